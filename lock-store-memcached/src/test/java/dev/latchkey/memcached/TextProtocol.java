package dev.latchkey.memcached;

import dev.latchkey.servers.MemcachedServer;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.testkit.StoreContract;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A store by the text protocol, for contracts in several classes, which run beside each other. */
@Execution(ExecutionMode.CONCURRENT)
abstract class TextProtocol implements StoreContract {

    private static PersistingStore store;

    @BeforeAll
    static void open() {
        store = Stores.patient(MemcachedServer.sharedDsn());
    }

    @AfterAll
    static void close() {
        store.close();
    }

    @Override
    public PersistingStore store() {
        return store;
    }

    @Override
    public PersistingStore separateStore() {
        return Stores.openOthers(MemcachedServer.sharedDsn());
    }

    @Override
    public Duration shortTtl() {
        return Duration.ofSeconds(1);
    }
}
