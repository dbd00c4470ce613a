package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.servers.PatientDsn;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.testkit.ExpiringFencingContract;
import dev.latchkey.testkit.FairStoreContract;
import dev.latchkey.testkit.SharedBlockingContract;
import dev.latchkey.testkit.StickyForceReleaseContract;
import dev.latchkey.testkit.StickyLeaseContract;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The queue, sharing and fencing tokens, on the oldest version that has what the scripts need. */
@Execution(ExecutionMode.CONCURRENT)
class RedisOldestServerIT
        implements SharedBlockingContract,
                FairStoreContract,
                ExpiringFencingContract,
                StickyForceReleaseContract,
                StickyLeaseContract {

    private static RedisServer server;

    private PersistingStore store;

    @BeforeEach
    void open() {
        store = new RedisStore.Provider().open(PatientDsn.redis(server.dsn()));
    }

    @AfterEach
    void close() {
        store.close();
    }

    @BeforeAll
    static void start() {
        server = RedisServer.startOldest();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Override
    public PersistingStore store() {
        return store;
    }

    @Override
    public PersistingStore separateStore() {
        return new RedisStore.Provider().open(PatientDsn.redis(server.dsn()) + "&prefix=" + UUID.randomUUID() + ":");
    }

    @Test
    void givenTheArtifact_whenAsked_thenItIsOfThatVersion() {
        assertThat(server.text("INFO", "server")).contains("redis_version:6.2");
    }
}
