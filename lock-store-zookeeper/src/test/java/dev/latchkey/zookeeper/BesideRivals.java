package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.testkit.BackgroundCall;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** As its superclass, and rivals with a connection of their own. */
abstract class BesideRivals extends BehindAProxy {

    /** A holder may stand still for half of it. */
    static final Duration SHORT = Duration.ofSeconds(12);

    static final String SHORT_SESSION = Stores.session(SHORT);

    /** Where no session is to end. */
    static final String LONG_SESSION = "?sessionTimeout=60s";

    ZooKeeperStore direct;
    LockFactory rivals;

    BesideRivals() {
        this(SHORT_SESSION);
    }

    BesideRivals(String options) {
        super(options);
    }

    @BeforeEach
    void connectRivals() {
        direct = Stores.open(server.address(), LONG_SESSION);
        rivals = new LockFactory(direct);
        assertThat(locks.createLock("warm-up").tryAcquire()).isTrue();
    }

    @AfterEach
    void endRivals() {
        rivals.close();
        direct.close();
    }

    BackgroundCall<Lock> waiting(LockFactory factory, String resource, int lengthThen) throws Exception {
        BackgroundCall<Lock> call = BackgroundCall.start(factory.createLock(resource, TTL)::acquire);
        awaitLine(resource, lengthThen);
        call.awaitWaiting();
        return call;
    }

    void awaitLine(String resource, int length) {
        Awaitility.await()
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(nodes.line(resource)).hasSize(length));
    }

    static void expire(ZooKeeperStore store) {
        SessionExpiry.force(server.address(), store.sessions().forUse("any").client());
    }
}
