package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.HandoffStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How the core passes a hold on to whoever waits in the same JVM. */
class PassingTest {

    private static final String RESOURCE = "orders";
    private static final Duration TTL = Duration.ofMinutes(1);

    private final OneStep store = new OneStep();
    private final LockFactory locks = new LockFactory(store);
    private final Lock holder = locks.createLock(RESOURCE, TTL);
    private final Lock next = locks.createLock(RESOURCE, TTL);

    @AfterEach
    void close() {
        locks.close();
    }

    @Test
    void givenAWaiter_whenTheHolderReleases_thenTheHoldIsPassedWithoutADelete() throws Exception {
        long first = releaseToTheWaiter(OneStep.Answer.GRANTED);

        assertThat(store.deletes).hasValue(0);
        assertThat(next.fencingToken().orElseThrow()).isGreaterThan(first);
        assertThat(next.isAcquired()).isTrue();
        assertThat(holder.isAcquired()).isFalse();
    }

    @Test
    void givenOthersWaitElsewhere_whenTheHolderReleases_thenItIsReleasedAndTheWaiterGetsItAfterAll() throws Exception {
        long first = releaseToTheWaiter(OneStep.Answer.OTHERS_WAIT);

        assertThat(store.deletes).hasValue(1);
        assertThat(next.fencingToken().orElseThrow()).isGreaterThan(first);
    }

    @Test
    void givenTheAnswerIsLost_whenTheHolderReleases_thenItFailsAndTheWaiterTakesItWithAnotherKey() throws Exception {
        long first = releaseToTheWaiter(OneStep.Answer.LOST);

        // What it may have been passed was given back before it asked again.
        assertThat(store.deletes).hasValue(1);
        assertThat(next.fencingToken().orElseThrow()).isGreaterThan(first + 1);
        assertThat(next.isAcquired()).isTrue();
        assertThat(next.release()).isTrue();
    }

    /** Again, if the waiter asked for itself just then; returns the token of the hold that was released. */
    private long releaseToTheWaiter(OneStep.Answer answer) throws Exception {
        while (true) {
            store.answer = answer;
            holder.acquire();
            long token = holder.fencingToken().orElseThrow();
            BackgroundCall<Lock> waiter = BackgroundCall.start(next::acquire);
            waiter.awaitWaiting();
            store.deletes.set(0);
            if (answer == OneStep.Answer.LOST && store.passes.get() == 0) {
                releaseInDoubt();
            } else {
                assertThat(holder.release()).isTrue();
            }
            waiter.result();
            if (store.passes.get() > 0) {
                return token;
            }
            next.release();
        }
    }

    private void releaseInDoubt() {
        try {
            holder.release();
        } catch (LockStorageException e) {
            assertThat(store.passes).hasValue(1);
            return;
        }
        assertThat(store.passes).hasValue(0);
    }

    /** Passes in one step, and polls. */
    private static final class OneStep implements HandoffStore {

        private enum Answer {
            GRANTED,
            OTHERS_WAIT,
            LOST
        }

        private final InMemoryStore store = new InMemoryStore();
        private final AtomicInteger passes = new AtomicInteger();
        private final AtomicInteger deletes = new AtomicInteger();
        private volatile Answer answer = Answer.GRANTED;

        @Override
        public boolean canHandOff() {
            return true;
        }

        @Override
        public Optional<Response.Granted> handOff(Key from, Request to) {
            passes.incrementAndGet();
            if (answer == Answer.OTHERS_WAIT || !store.delete(from)) {
                return Optional.empty();
            }
            Response.Granted granted = Requests.granted(store.save(to));
            if (answer == Answer.LOST) {
                throw new LockStorageException(from.resource(), "no answer", null);
            }
            return Optional.of(granted);
        }

        @Override
        public Response save(Request request) {
            return store.save(request);
        }

        @Override
        public boolean delete(Key key) {
            deletes.incrementAndGet();
            return store.delete(key);
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return store.find(key);
        }

        @Override
        public void close() {
            store.close();
        }
    }
}
