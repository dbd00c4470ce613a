package dev.latchkey;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Lets one waiter of this factory ask the store at a time: per resource only the head of a first-in, first-out line
 * polls, so that a thousand waiting threads cost the server no more than one.
 */
final class Gate {

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

    Place join(String resource, CompletionStage<?> withdrawn) {
        Place place = new Place(resource);
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

        private final String resource;
        private final Condition changed = guard.newCondition();
        private boolean mayTry;
        private boolean withdrawn;
        private boolean grantedExclusive;

        private Place(String resource) {
            this.resource = resource;
        }

        /**
         * Waits until this is the head and has paused, or was woken before.
         *
         * @param pauseNanos how long the head pauses before its next try
         * @return true if it is time to try; false if the wait is over, or was withdrawn
         */
        boolean awaitTurn(long pauseNanos, Deadline end) throws InterruptedException {
            guard.lockInterruptibly();
            try {
                long pauseLeft = pauseNanos;
                while (!withdrawn && !end.isOver()) {
                    boolean isHead = head(resource) == this;
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
                return false;
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
