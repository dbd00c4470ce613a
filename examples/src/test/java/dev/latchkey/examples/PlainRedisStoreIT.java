package dev.latchkey.examples;

import dev.latchkey.servers.RedisServer;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.testkit.CutOffContract;
import dev.latchkey.testkit.ExpiringStoreContract;
import dev.latchkey.testkit.HandoverContract;
import dev.latchkey.testkit.LeaseCrashContract;
import dev.latchkey.testkit.OwnServer;
import dev.latchkey.testkit.PersistingStoreContract;
import dev.latchkey.testkit.ProcessContentionContract;
import dev.latchkey.testkit.ServerFaultContract;
import dev.latchkey.testkit.StoreRules;
import dev.latchkey.testkit.UnfencedContract;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The store of the tutorial keeps every contract there is for what it can do. */
@Execution(ExecutionMode.CONCURRENT)
class PlainRedisStoreIT
        implements PersistingStoreContract,
                ExpiringStoreContract,
                UnfencedContract,
                HandoverContract,
                LeaseCrashContract,
                CutOffContract,
                ServerFaultContract,
                ProcessContentionContract {

    private static RedisServer server;
    private static RedisServer otherServer;
    private static PersistingStore store;

    @BeforeAll
    static void open() {
        server = RedisServer.start();
        otherServer = RedisServer.start();
        store = new PlainRedisStore(server.dsn());
    }

    @AfterAll
    static void close() {
        store.close();
        server.close();
        otherServer.close();
    }

    @Override
    public PersistingStore store() {
        return store;
    }

    @Override
    public PersistingStore separateStore() {
        return new PlainRedisStore(otherServer.dsn());
    }

    @Override
    public String dsn() {
        return "plain-" + server.dsn();
    }

    @Override
    public List<RedisServer> startServers() {
        return List.of(RedisServer.startDurable());
    }

    @Override
    public String dsn(List<? extends OwnServer> servers) {
        return "plain-" + servers.get(0).dsn();
    }

    @Override
    public boolean remembersExpiredHolds() {
        return false; // The string is gone with its TTL.
    }

    @Test
    void joinsTheContractOfEverythingItCanDo() {
        StoreRules.of(PlainRedisStore.class).testedBy(PlainRedisStoreIT.class).checkContracts();
    }
}
