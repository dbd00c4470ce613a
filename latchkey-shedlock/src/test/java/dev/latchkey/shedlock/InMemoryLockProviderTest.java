package dev.latchkey.shedlock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.LockFactory;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.time.Instant;
import net.javacrumbs.shedlock.core.LockConfiguration;
import org.junit.jupiter.api.Test;

class InMemoryLockProviderTest extends LockProviderContract {

    private final InMemoryStore store = new InMemoryStore();

    @Override
    LockFactory connect() {
        return new LockFactory(store);
    }

    /** What ends it in time must not end it too soon. */
    @Test
    void givenAnUnlockedLockThatTheStoreKeeps_whenProviderAndFactoryAreClosed_thenItIsKept() {
        LockConfiguration configuration =
                new LockConfiguration(Instant.now(), "kept", Duration.ofMinutes(5), Duration.ofMinutes(1));
        LockFactory locks = connect();
        LatchkeyLockProvider closed = new LatchkeyLockProvider(locks);
        closed.lock(configuration).orElseThrow().unlock();

        closed.close();
        locks.close();

        try (LockFactory others = connect();
                LatchkeyLockProvider provider = new LatchkeyLockProvider(others)) {
            assertThat(provider.lock(configuration)).isEmpty();
        }
    }
}
