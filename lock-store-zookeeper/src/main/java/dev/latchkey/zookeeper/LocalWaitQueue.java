package dev.latchkey.zookeeper;

import dev.latchkey.LockStorageException;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Those of one store who wait, in order of arrival, of whom only the first few of each line stand in the servers' line: so
 * that this stays short however many threads wait here, and who joins it reads a short list. More than one, so that the next
 * stands there already when one is done.
 */
final class LocalWaitQueue {

    /** How many wait in the servers' line at once, of each lock. */
    static final int PLACES = 16;

    private final ReentrantLock guard = new ReentrantLock();
    private final Map<String, Entrance> entrances = new HashMap<>();
    private boolean closed;

    /** Those who wait for one lock: in the servers' line, and before it. */
    private static final class Entrance {
        private final Set<Ticket> outside = new LinkedHashSet<>();
        private int inside;
    }

    /** Takes a place at the end. */
    Ticket enter(String parent) {
        guard.lock();
        try {
            Entrance entrance = entrances.computeIfAbsent(parent, unused -> new Entrance());
            Ticket ticket = new Ticket(parent, entrance);
            entrance.outside.add(ticket);
            admit(entrance);
            return ticket;
        } finally {
            guard.unlock();
        }
    }

    private void admit(Entrance entrance) {
        while (!entrance.outside.isEmpty() && (closed || entrance.inside < PLACES)) {
            Ticket next = entrance.outside.iterator().next();
            entrance.outside.remove(next);
            entrance.inside++;
            next.turn.complete(null);
        }
    }

    /** Lets everybody in, now and from now on. */
    void close() {
        guard.lock();
        try {
            closed = true;
            entrances.values().forEach(this::admit);
        } finally {
            guard.unlock();
        }
    }

    /** One who waits. */
    final class Ticket {

        private final String parent;
        private final Entrance entrance;
        private final CompletableFuture<Void> turn = new CompletableFuture<>();

        private Ticket(String parent, Entrance entrance) {
            this.parent = parent;
            this.entrance = entrance;
        }

        /**
         * Waits until it may stand in the servers' line.
         *
         * @return false if its time was over before, or it was withdrawn
         * @throws LockStorageException if one who was let in before had no answer from the servers
         */
        boolean await(String resource, long endNanos, CompletableFuture<Void> stop) throws InterruptedException {
            try {
                CompletableFuture.anyOf(turn, stop).get(endNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
                return turn.isDone();
            } catch (TimeoutException e) {
                return false;
            } catch (ExecutionException e) {
                if (e.getCause() instanceof LockStorageException failure) {
                    throw Failures.unansweredBefore(resource, failure);
                }
                throw new IllegalStateException("nothing else completes like that", e.getCause());
            }
        }

        /** It had no answer from the servers: nor would those have who come after it, one after the other. */
        void failed(LockStorageException failure) {
            guard.lock();
            try {
                entrance.outside.forEach(ticket -> ticket.turn.completeExceptionally(failure));
                entrance.outside.clear();
            } finally {
                guard.unlock();
            }
        }

        /** Waits no longer: it holds, or has given up. */
        void leave() {
            guard.lock();
            try {
                boolean wasInside = turn.isDone() && !turn.isCompletedExceptionally();
                if (wasInside) {
                    entrance.inside--;
                } else {
                    entrance.outside.remove(this);
                }
                admit(entrance);
                if (entrance.inside == 0 && entrance.outside.isEmpty()) {
                    entrances.remove(parent, entrance);
                }
            } finally {
                guard.unlock();
            }
        }
    }
}
