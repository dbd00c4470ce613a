package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;

/** Work without an end under a lock that interrupts its thread when it is lost. */
final class InterruptedWork {

    private final Lock lock;
    private final BackgroundCall<Boolean> call;

    private InterruptedWork(Lock lock, BackgroundCall<Boolean> call) {
        this.lock = lock;
        this.call = call;
    }

    /** Acquires the lock in a thread of its own, and returns once it is held and work has begun. */
    static InterruptedWork begin(Fixture fixture, Lock lock) {
        InterruptedWork work = new InterruptedWork(lock, fixture.start(() -> isInterruptedUnder(lock)));
        Awaitility.await("the worker to hold").atMost(TimeLimits.LIMIT).until(work::hasBegun);
        return work;
    }

    private boolean hasBegun() {
        return call.isDone() || lock.key().held().isPresent();
    }

    private static boolean isInterruptedUnder(Lock lock) {
        assertThat(lock.tryAcquire()).isTrue();
        try {
            new CountDownLatch(1).await();
            return false;
        } catch (InterruptedException e) {
            return lock.isExpired();
        }
    }

    /** Waits for the interruption; tells whether the lock was over by its own account then. */
    boolean endsKnowingly() throws Exception {
        return call.result();
    }
}
