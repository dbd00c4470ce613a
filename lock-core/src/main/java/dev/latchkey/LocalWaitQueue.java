package dev.latchkey;

import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Lets one waiter of this factory ask the store at a time: per resource only the head of a first-in, first-out line
 * polls, so that a thousand waiting threads cost the server no more than one.
 */
final class LocalWaitQueue {

    /** Guards the lines, and all places in them. */
    private final ReentrantLock guard = new ReentrantLock();

    private final Map<String, Deque<LocalWaiter>> lines = new HashMap<>();

    boolean hasLine(String resource) {
        return guarded(() -> lines.containsKey(resource));
    }

    LocalWaiter join(Request request, CompletionStage<?> withdrawn) {
        LocalWaiter waiter = new LocalWaiter(request);
        change(() -> lines.computeIfAbsent(waiter.resource(), name -> new ArrayDeque<>())
                .addLast(waiter));
        withdrawn.thenRun(waiter::withdraw);
        return waiter;
    }

    /** The next may try at once, unless it would only meet the exclusive hold just granted. */
    private void leave(LocalWaiter waiter) {
        change(() -> {
            boolean wasHead = isHead(waiter);
            lines.computeIfPresent(waiter.resource(), (name, line) -> {
                line.remove(waiter);
                return line.isEmpty() ? null : line;
            });
            if (wasHead) {
                head(waiter.resource()).ifPresent(next -> next.becomeHeadAfter(waiter));
            }
        });
    }

    /** A lock of this JVM was released: the head need not pause any longer. */
    void released(String resource) {
        change(() -> head(resource).ifPresent(LocalWaiter::tryNow));
    }

    /** Somebody elsewhere waits for what was released here: the head lets them ask first. */
    void releasedForOthers(String resource) {
        change(() -> head(resource).ifPresent(LocalWaiter::trySoon));
    }

    /**
     * Chooses the head to be passed an exclusive hold, if it waits for one and does not ask for itself just now. It then
     * waits until it is answered, whatever else happens.
     */
    Optional<LocalWaiter> choose(String resource) {
        return guarded(() -> head(resource).filter(LocalWaiter::choose));
    }

    int waiters() {
        return guarded(() -> lines.values().stream().mapToInt(Deque::size).sum());
    }

    private boolean isHead(LocalWaiter waiter) {
        return head(waiter.resource()).filter(head -> head == waiter).isPresent();
    }

    private Optional<LocalWaiter> head(String resource) {
        return Optional.ofNullable(lines.get(resource)).map(Deque::peekFirst);
    }

    private void change(Runnable change) {
        guard.lock();
        try {
            change.run();
        } finally {
            guard.unlock();
        }
    }

    private <T> T guarded(Supplier<T> look) {
        guard.lock();
        try {
            return look.get();
        } finally {
            guard.unlock();
        }
    }

    /** One waiter's place in the line of a resource. Whatever others may see or change is guarded by the queue. */
    final class LocalWaiter implements AutoCloseable {

        /** How far whoever releases the resource has come with passing it to this place. */
        private enum Passing {
            NOT_CHOSEN,
            CHOSEN,
            PASSED,
            IN_DOUBT
        }

        /** How long those elsewhere have to ask, who were told of a release here. */
        private static final long OTHERS_FIRST_NANOS = Duration.ofMillis(5).toNanos();

        private final Condition changed = guard.newCondition();
        private final Request request;

        private boolean parked;
        private boolean mayTry;
        private boolean mayTrySoon;
        private boolean withdrawn;
        private boolean grantedExclusive;
        private Passing handoff = Passing.NOT_CHOSEN;
        private @Nullable Response passed;

        private LocalWaiter(Request request) {
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
         * @return true if it is time to try, or the wait {@link #isAnswered()}; false if the wait is over, or was
         *     withdrawn
         */
        boolean awaitTurn(long pauseNanos, Deadline end) throws InterruptedException {
            guard.lockInterruptibly();
            try {
                parked = true;
                return awaitTurnParked(pauseNanos, end);
            } catch (InterruptedException e) {
                if (!hasAnswer()) {
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
                if (hasAnswer()) {
                    return true;
                }
                if (withdrawn || end.isOver()) {
                    return false;
                }
                boolean isHead = isHead(this);
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
        private boolean hasAnswer() {
            while (handoff == Passing.CHOSEN) {
                changed.awaitUninterruptibly();
            }
            return handoff != Passing.NOT_CHOSEN;
        }

        /** Whether the wait was answered by a release here. */
        boolean isAnswered() {
            return guarded(() -> handoff != Passing.NOT_CHOSEN);
        }

        /** Returns what was passed to this place; empty if nothing was, or nobody knows whether something was. */
        Optional<Response> passed() {
            return guarded(() -> Optional.ofNullable(passed));
        }

        /** Chooses this place to be passed an exclusive hold; false if it cannot be, and goes on as before. */
        private boolean choose() {
            boolean canBePassedOn = parked
                    && handoff == Passing.NOT_CHOSEN
                    && !withdrawn
                    && request.mode() == LockMode.EXCLUSIVE
                    && request.key().held().isEmpty();
            if (canBePassedOn) {
                handoff = Passing.CHOSEN;
            }
            return canBePassedOn;
        }

        /** Answers a place that was chosen. */
        void handOff(Response.Granted granted) {
            tell(() -> {
                passed = granted;
                handoff = Passing.PASSED;
            });
        }

        /** Answers a place that was chosen: nothing was passed, and it goes on as before. */
        void passNothing() {
            tell(() -> handoff = Passing.NOT_CHOSEN);
        }

        /** Answers a place that was chosen: the store has not said whether anything was passed. */
        void leaveInDoubt() {
            tell(() -> handoff = Passing.IN_DOUBT);
        }

        /** The resource may be free: the head need not pause any longer. */
        void tryNow() {
            tell(() -> mayTry = true);
        }

        /** The resource is free, but others may ask first. */
        void trySoon() {
            tell(() -> mayTrySoon = true);
        }

        /** Ends the wait. */
        void withdraw() {
            tell(() -> withdrawn = true);
        }

        /** Moves up. What was granted to the one before decides whether this may find the resource free. */
        void becomeHeadAfter(LocalWaiter before) {
            tell(() -> mayTry = !before.grantedExclusive);
        }

        private void tell(Runnable change) {
            LocalWaitQueue.this.change(() -> {
                change.run();
                changed.signal();
            });
        }

        void granted(LockMode mode) {
            grantedExclusive = mode == LockMode.EXCLUSIVE;
        }

        /** Leaves the line. */
        @Override
        public void close() {
            leave(this);
        }
    }
}
