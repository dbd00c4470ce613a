package dev.latchkey;

import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** One waiter's place in the line of a resource at the {@link LocalWaitQueue}. Whatever others may see or change is guarded there. */
final class LocalWaiter implements AutoCloseable {

    /** How far whoever releases the resource has come with handoff it to this place. */
    private enum Passing {
        NOT_CHOSEN,
        CHOSEN,
        PASSED,
        IN_DOUBT
    }

    /** Nobody knows whether a hold was passed: the store has not answered the one who passed it. */
    static final class InDoubtException extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    /** How long those elsewhere have to ask, who were told of a release here. */
    private static final long OTHERS_FIRST_NANOS = Duration.ofMillis(5).toNanos();

    private final LocalWaitQueue waitQueue;
    private final ReentrantLock guard;
    private final Condition changed;
    private final Request request;

    private boolean parked;
    private boolean mayTry;
    private boolean mayTrySoon;
    private boolean withdrawn;
    private boolean grantedExclusive;
    private Passing handoff = Passing.NOT_CHOSEN;
    private @Nullable Response passed;

    LocalWaiter(LocalWaitQueue waitQueue, ReentrantLock guard, Request request) {
        this.waitQueue = waitQueue;
        this.guard = guard;
        this.changed = guard.newCondition();
        this.request = request;
    }

    Request request() {
        return request;
    }

    String resource() {
        return request.key().resource();
    }

    /**
     * Waits until this is the head and has paused, or was woken before, or was passed a hold.
     *
     * @param pauseNanos how long the head pauses before its next try
     * @return true if it is time to try, or to look at what was {@link #passed()}; false if the wait is over, or was
     *     withdrawn
     */
    boolean awaitTurn(long pauseNanos, Deadline end) throws InterruptedException {
        guard.lockInterruptibly();
        try {
            parked = true;
            return awaitTurnParked(pauseNanos, end);
        } catch (InterruptedException e) {
            if (!isAnswered()) {
                throw e;
            }
            Thread.currentThread().interrupt();
            return true;
        } finally {
            parked = false;
            guard.unlock();
        }
    }

    private boolean awaitTurnParked(long pauseNanos, Deadline end) throws InterruptedException {
        long pauseLeft = pauseNanos;
        while (true) {
            if (isAnswered()) {
                return true;
            }
            if (withdrawn || end.isOver()) {
                return false;
            }
            boolean isHead = waitQueue.isHead(this);
            if (isHead && mayTrySoon) {
                mayTrySoon = false;
                pauseLeft = Math.min(pauseLeft, OTHERS_FIRST_NANOS);
            }
            if (isHead && (mayTry || pauseLeft <= 0)) {
                mayTry = false;
                return true;
            }
            if (isHead) {
                long bound = Math.min(pauseLeft, end.remainingNanos());
                pauseLeft -= bound - changed.awaitNanos(bound);
            } else {
                changed.awaitNanos(end.remainingNanos());
            }
        }
    }

    /** What is on its way to this place cannot be called back, and comes before every other end of the wait. */
    private boolean isAnswered() {
        while (handoff == Passing.CHOSEN) {
            changed.awaitUninterruptibly();
        }
        return handoff != Passing.NOT_CHOSEN;
    }

    /**
     * Returns what was passed to this place, if anything was.
     *
     * @throws InDoubtException if it is not known whether something was
     */
    Optional<Response> passed() {
        guard.lock();
        try {
            if (handoff == Passing.IN_DOUBT) {
                throw new InDoubtException();
            }
            return Optional.ofNullable(passed);
        } finally {
            guard.unlock();
        }
    }

    /** Chooses this place to be passed an exclusive hold; false if it cannot be, and goes on as before. */
    boolean choose() {
        guard.lock();
        try {
            boolean canBePassedOn = parked
                    && handoff == Passing.NOT_CHOSEN
                    && !withdrawn
                    && request.mode() == LockMode.EXCLUSIVE
                    && request.key().held().isEmpty();
            if (canBePassedOn) {
                handoff = Passing.CHOSEN;
            }
            return canBePassedOn;
        } finally {
            guard.unlock();
        }
    }

    /** Answers a place that was chosen. */
    void handOff(Response.Granted granted) {
        change(() -> {
            passed = granted;
            handoff = Passing.PASSED;
        });
    }

    /** Answers a place that was chosen: nothing was passed, and it goes on as before. */
    void passNothing() {
        change(() -> handoff = Passing.NOT_CHOSEN);
    }

    /** Answers a place that was chosen: the store has not said whether anything was passed. */
    void leaveInDoubt() {
        change(() -> handoff = Passing.IN_DOUBT);
    }

    /** The resource may be free: the head need not pause any longer. */
    void tryNow() {
        change(() -> mayTry = true);
    }

    /** The resource is free, but others may ask first. */
    void trySoon() {
        change(() -> mayTrySoon = true);
    }

    /** Ends the wait. */
    void withdraw() {
        change(() -> withdrawn = true);
    }

    /** Moves up. What was granted to the one before decides whether this may find the resource free. */
    void becomeHeadAfter(LocalWaiter before) {
        change(() -> mayTry = !before.grantedExclusive);
    }

    private void change(Runnable change) {
        guard.lock();
        try {
            change.run();
            changed.signal();
        } finally {
            guard.unlock();
        }
    }

    void granted(LockMode mode) {
        grantedExclusive = mode == LockMode.EXCLUSIVE;
    }

    /** Leaves the line. */
    @Override
    public void close() {
        waitQueue.leave(this);
    }
}
