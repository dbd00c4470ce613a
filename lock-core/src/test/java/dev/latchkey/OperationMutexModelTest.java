package dev.latchkey;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** One thread at a time has the turn, and each that waits for it gets it. */
@Tag("model")
class OperationMutexModelTest {

    @TestFactory
    Stream<DynamicTest> givenTwoTurns_thenOneAtATimeAndBothEnd() {
        return new Interleavings<>(500, () -> new TwoThreads(), x -> x.check())
                .ofPairs(Map.of(
                        "takeUnlessWaiting", x -> x.tryOnce(),
                        "takeToWait", x -> x.waitForTurn(),
                        "takeFromWaiter", x -> x.release(),
                        "alone", x -> x.releaseAlone()));
    }

    /** The model checker has to see what it is run for. */
    @Test
    void givenAMutexThatLosesAWakeUp_thenFound() {
        Interleavings<LosesAWakeUp> turns = new Interleavings<>(500, () -> new LosesAWakeUp(), mutex -> {});

        assertThatExceptionOfType(LincheckAssertionError.class)
                .isThrownBy(() -> turns.run(x -> x.turn(), x -> x.turn()))
                .withMessageContaining("hung");
    }

    /** What the two threads of an interleaving share. */
    private static final class TwoThreads {

        private static final Deadline FAR = Deadline.in(Duration.ofHours(1));

        private final OperationMutex mutex = new OperationMutex();
        private int inside;

        void tryOnce() {
            if (mutex.takeUnlessWaiting()) {
                enter();
                leave();
            }
        }

        void waitForTurn() {
            take(new CompletableFuture<>());
            enter();
            leave();
        }

        void release() {
            mutex.takeFromWaiter();
            enter();
            leave();
        }

        void releaseAlone() {
            mutex.alone(() -> {
                enter();
                inside--;
                return true;
            });
        }

        private void take(CompletableFuture<Void> withdrawn) {
            try {
                if (!mutex.takeToWait(withdrawn, FAR)) {
                    throw new IllegalStateException("the wait has ended without a turn");
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        private void enter() {
            inside++;
            if (inside != 1) {
                throw new IllegalStateException("two threads have the turn");
            }
        }

        private void leave() {
            inside--;
            mutex.end();
        }

        void check() {
            if (inside != 0 || !mutex.takeUnlessWaiting()) {
                throw new IllegalStateException("the turn was not given back");
            }
        }
    }

    /** As the mutex is, but counts itself as queued only after it has looked at the turn. */
    private static final class LosesAWakeUp {

        private final AtomicReference<Object> taken = new AtomicReference<>();
        private final AtomicInteger queued = new AtomicInteger();
        private final ReentrantLock guard = new ReentrantLock();
        private final Condition ended = guard.newCondition();

        void turn() {
            try {
                take();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            end();
        }

        private void take() throws InterruptedException {
            guard.lock();
            try {
                while (!taken.compareAndSet(null, this)) {
                    queued.incrementAndGet();
                    long unused = ended.awaitNanos(TimeUnit.HOURS.toNanos(1));
                    queued.decrementAndGet();
                }
            } finally {
                guard.unlock();
            }
        }

        private void end() {
            taken.set(null);
            if (queued.get() > 0) {
                guard.lock();
                try {
                    ended.signalAll();
                } finally {
                    guard.unlock();
                }
            }
        }
    }
}
