package dev.latchkey.zookeeper;

import dev.latchkey.LockFactory;
import dev.latchkey.servers.ZooKeeperServer;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** A store whose connection goes through a proxy, and a plain client with none in between. */
abstract class BehindAProxy {

    static final Duration LIMIT = TimeLimits.LIMIT;
    static final Duration TTL = Duration.ofMinutes(5);

    static ZooKeeperServer server;

    private final String options;

    FaultProxy proxy;
    ZooKeeperStore store;
    LockFactory locks;
    Nodes nodes;

    BehindAProxy(String options) {
        this.options = options;
    }

    @BeforeAll
    static void startServer() {
        server = ZooKeeperServer.start("maxSessionTimeout=400000");
    }

    @AfterAll
    static void endServer() {
        server.close();
    }

    @BeforeEach
    void connect() throws Exception {
        proxy = FaultProxy.to(server.address());
        store = Stores.open(proxy.address(), options);
        locks = new LockFactory(store);
        nodes = Nodes.of(server.dsn());
    }

    @AfterEach
    void end() {
        proxy.heal();
        proxy.delay(Duration.ZERO);
        locks.close();
        store.close();
        proxy.close();
        nodes.close();
    }
}
