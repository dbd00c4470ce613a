package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.spi.PersistingStore;
import dev.latchkey.testkit.ExpiringFencingContract;
import dev.latchkey.testkit.FairStoreContract;
import dev.latchkey.testkit.RedisServer;
import dev.latchkey.testkit.SharedBlockingContract;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The queue, sharing and fencing tokens, on the oldest version that has what the scripts need. */
class RedisOldestServerIT implements SharedBlockingContract, FairStoreContract, ExpiringFencingContract {

    private static final RedisServer SERVER = RedisServer.startOldest();

    private PersistingStore store;

    @BeforeEach
    void open() {
        store = new RedisStore.Provider().open(SERVER.dsn());
    }

    @AfterEach
    void close() {
        store.close();
    }

    @AfterAll
    static void stop() {
        SERVER.close();
    }

    @Override
    public PersistingStore store() {
        return store;
    }

    @Override
    public PersistingStore separateStore() {
        return new RedisStore.Provider().open(SERVER.dsn() + "?prefix=" + UUID.randomUUID() + ":");
    }

    @Test
    void givenTheArtifact_whenAsked_thenItIsOfThatVersion() {
        assertThat(SERVER.text("INFO", "server")).contains("redis_version:6.2");
    }
}
