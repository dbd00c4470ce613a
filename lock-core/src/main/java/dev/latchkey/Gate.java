package dev.latchkey;

import dev.latchkey.spi.Attempt;
import dev.latchkey.spi.Request;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Lets one waiter of this factory ask the store at a time: per resource only the head of a first-in, first-out line
 * polls, so that a thousand waiting threads cost the server no more than one.
 */
final class Gate {

    /** How long those elsewhere have to ask, who were told of a release here. */
    private static final long OTHERS_FIRST_NANOS = Duration.ofMillis(5).toNanos();

    private final ReentrantLock guard = new ReentrantLock();
    private final Map<String, Deque<Place>> lines = new HashMap<>();

    boolean hasLine(String resource) {
        guard.lock();
        try {
            return lines.containsKey(resource);
        } finally {
            guard.unlock();
        }
    }

    Place join(Request request, CompletionStage<?> withdrawn) {
        String resource = request.key().resource();
        Place place = new Place(request);
        guard.lock();
        try {
            lines.computeIfAbsent(resource, name -> new ArrayDeque<>()).addLast(place);
        } finally {
            guard.unlock();
        }
        withdrawn.thenRun(place::withdraw);
        return place;
    }

    /** A lock of this JVM was released: the head need not pause any longer. */
    void released(String resource) {
        guard.lock();
        try {
            wakeHead(resource);
        } finally {
            guard.unlock();
        }
    }

    /** Somebody elsewhere waits for what was released here: the head lets them ask first. */
    void releasedForOthers(String resource) {
        guard.lock();
        try {
            Place head = head(resource);
            if (head != null) {
                head.maySoonTry = true;
                head.changed.signal();
            }
        } finally {
            guard.unlock();
        }
    }

    /**
     * Chooses the head to be passed an exclusive hold, if it waits for one and does not ask for itself just now. It then
     * waits until it is answered, whatever else happens.
     */
    @Nullable Place choose(String resource) {
        guard.lock();
        try {
            Place head = head(resource);
            if (head == null || !head.canBePassedOn()) {
                return null;
            }
            head.chosen = true;
            return head;
        } finally {
            guard.unlock();
        }
    }

    int waiters() {
        guard.lock();
        try {
            return lines.values().stream().mapToInt(Deque::size).sum();
        } finally {
            guard.unlock();
        }
    }

    private void wakeHead(String resource) {
        Place head = head(resource);
        if (head != null) {
            head.mayTry = true;
            head.changed.signal();
        }
    }

    private @Nullable Place head(String resource) {
        Deque<Place> line = lines.get(resource);
        return line == null ? null : line.peekFirst();
    }

    /** One waiter's place in the line of a resource. */
    final class Place implements AutoCloseable {

        private final Request request;
        private final String resource;
        private final Condition changed = guard.newCondition();
        private boolean parked;
        private boolean mayTry;
        private boolean maySoonTry;
        private boolean withdrawn;
        private boolean grantedExclusive;
        private boolean chosen;
        private @Nullable Passed passed;

        private Place(Request request) {
            this.request = request;
            this.resource = request.key().resource();
        }

        Request request() {
            return request;
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
                if (!isPassed()) {
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
                if (isPassed()) {
                    return true;
                }
                if (withdrawn || end.isOver()) {
                    return false;
                }
                boolean isHead = head(resource) == this;
                if (isHead && maySoonTry) {
                    maySoonTry = false;
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
        private boolean isPassed() {
            while (chosen) {
                changed.awaitUninterruptibly();
            }
            return passed != null;
        }

        private boolean canBePassedOn() {
            return parked
                    && !chosen
                    && passed == null
                    && !withdrawn
                    && request.mode() == LockMode.EXCLUSIVE
                    && request.key().held().isEmpty();
        }

        /**
         * Returns what was passed to this place, if anything was.
         *
         * @throws Passed.InDoubtException if it is not known whether something was
         */
        Optional<Attempt> passed() {
            guard.lock();
            try {
                return Optional.ofNullable(passed).map(Passed::get);
            } finally {
                guard.unlock();
            }
        }

        /** Answers a place that was chosen; nothing was passed: it goes on as before. */
        void answer(@Nullable Passed answer) {
            guard.lock();
            try {
                passed = answer;
                chosen = false;
                changed.signal();
            } finally {
                guard.unlock();
            }
        }

        /** The store says that a try may succeed now. */
        void tryNow() {
            guard.lock();
            try {
                mayTry = true;
                changed.signal();
            } finally {
                guard.unlock();
            }
        }

        void granted(LockMode mode) {
            grantedExclusive = mode == LockMode.EXCLUSIVE;
        }

        private void withdraw() {
            guard.lock();
            try {
                withdrawn = true;
                changed.signal();
            } finally {
                guard.unlock();
            }
        }

        /** Leaves the line. The next may try at once, unless it would only meet the exclusive hold just granted. */
        @Override
        public void close() {
            guard.lock();
            try {
                boolean wasHead = head(resource) == this;
                lines.computeIfPresent(resource, (name, line) -> {
                    line.remove(this);
                    return line.isEmpty() ? null : line;
                });
                if (wasHead) {
                    letNextIn();
                }
            } finally {
                guard.unlock();
            }
        }

        private void letNextIn() {
            Place next = head(resource);
            if (next != null) {
                next.mayTry = !grantedExclusive;
                next.changed.signal();
            }
        }
    }
}
