package dev.latchkey.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.store.InMemoryStore;
import dev.latchkey.testkit.Fault;
import dev.latchkey.testkit.FaultyStore;
import dev.latchkey.testkit.FaultyStore.Operation;
import dev.latchkey.testkit.Pause;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.LockException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A store that fails is an exception of ShedLock, and never the answer that somebody else holds the lock. */
class StoreFailureTest {

    private static final Duration LONG = Duration.ofMinutes(5);

    private final FaultyStore store = new FaultyStore(new InMemoryStore());
    private final LockFactory locks = new LockFactory(store);
    private final LatchkeyLockProvider provider = new LatchkeyLockProvider(locks);

    @AfterEach
    void close() {
        provider.close();
        locks.close();
    }

    @Test
    void givenTheStoreFails_whenALockIsAskedFor_thenThatIsAnExceptionAndNothingIsHeld() {
        store.next(Operation.SAVE, Fault.replyLost());

        assertFails(this::lock);

        assertThat(lock()).isPresent();
    }

    @Test
    void givenTheStoreFails_whenALockIsUnlocked_thenThatIsAnException() {
        SimpleLock lock = lock().orElseThrow();
        store.next(Operation.DELETE, Fault.unreachable());

        assertFails(lock::unlock);
    }

    @Test
    void givenTheStoreFails_whenALockIsExtended_thenItStaysAsItWas() {
        SimpleLock lock = lock().orElseThrow();
        store.next(Operation.REFRESH, Fault.unreachable());

        assertFails(() -> lock.extend(LONG, Duration.ZERO));

        assertThat(lock()).isEmpty();
        lock.unlock();
        assertThat(lock()).isPresent();
    }

    /** The one thread that ends locks waits for the store. */
    @Test
    void givenTheStoreHangsAtAnotherLocksEnd_whenAnEndedLockIsNotExtended_thenItIsFreeAllTheSame() throws Exception {
        Pause pause = new Pause();
        store.next(Operation.DELETE, Fault.pausedBefore(pause));
        assertThat(provider.lock(configuration("other job", Duration.ofMillis(500))))
                .isPresent();
        pause.awaitReached();
        try {
            SimpleLock lock =
                    provider.lock(configuration("job", Duration.ofMillis(2))).orElseThrow();
            long start = System.nanoTime();
            Awaitility.await().pollInterval(Duration.ofMillis(1)).until(() -> System.nanoTime() - start > 4_000_000);

            assertThat(lock.extend(LONG, Duration.ZERO)).isEmpty();

            assertThat(lock()).isPresent();
        } finally {
            pause.end();
        }
    }

    private Optional<SimpleLock> lock() {
        return provider.lock(configuration("job", LONG));
    }

    private static LockConfiguration configuration(String job, Duration atMost) {
        return new LockConfiguration(Instant.now(), job, atMost, Duration.ZERO);
    }

    private static void assertFails(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(LockException.class).hasCauseInstanceOf(LockStorageException.class);
    }
}
