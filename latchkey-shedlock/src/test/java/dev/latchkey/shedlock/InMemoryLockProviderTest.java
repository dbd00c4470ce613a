package dev.latchkey.shedlock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.LockFactory;
import dev.latchkey.store.InMemoryStore;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.time.Instant;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

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

    @Test
    @ResourceLock(THREADS)
    void givenALockIsLost_whenItIsExtended_thenItIsNotAndNoThreadStays() {
        Duration atMost = Duration.ofDays(1);
        LockConfiguration configuration = new LockConfiguration(Instant.now(), "lost", atMost, Duration.ZERO);
        try (LockFactory locks = connect();
                LatchkeyLockProvider provider = new LatchkeyLockProvider(locks)) {
            SimpleLock lost = provider.lock(configuration).orElseThrow();
            long token = locks.holders("lost").get(0).fencingToken().orElseThrow();
            assertThat(locks.forceRelease("lost", token)).isTrue();

            assertThat(lost.extend(atMost, Duration.ZERO)).isEmpty();

            Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> !hasThread());
        }
    }
}
