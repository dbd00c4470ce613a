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
 * The waiters of one store, in order of arrival. For each lock only the first few are in the servers' queue, which therefore
 * stays short, and fast to read, however many threads wait here. More than one, so that the next is already there when the
 * first is done.
 */
final class LocalWaitQueue {

    /** How many waiters of each lock are in the servers' queue at once. */
    static final int PLACES = 16;

    private final ReentrantLock guard = new ReentrantLock();
    private final Map<String, Entrance> entrances = new HashMap<>();
    private boolean closed;

    /** The waiters for one lock: inside and outside of the servers' queue. */
    private static final class Entrance {
        private final Set<Ticket> outside = new LinkedHashSet<>();
        private int inside;
    }

    /** Joins the end of the local queue. */
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

    /** Admits all waiters, now and from now on. */
    void close() {
        guard.lock();
        try {
            closed = true;
            entrances.values().forEach(this::admit);
        } finally {
            guard.unlock();
        }
    }

    /** A waiter. */
    final class Ticket {

        private final String parent;
        private final Entrance entrance;
        private final CompletableFuture<Void> turn = new CompletableFuture<>();

        private Ticket(String parent, Entrance entrance) {
            this.parent = parent;
            this.entrance = entrance;
        }

        /**
         * Waits until it may join the servers' queue.
         *
         * @return false if the time is over, or the call was withdrawn
         * @throws LockStorageException if a waiter that was admitted before had no answer from the servers
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

        /** Fails the waiters behind it, because it had no answer from the servers and they would have none either. */
        void failed(LockStorageException failure) {
            guard.lock();
            try {
                entrance.outside.forEach(ticket -> ticket.turn.completeExceptionally(failure));
                entrance.outside.clear();
            } finally {
                guard.unlock();
            }
        }

        /** Leaves: it holds, or has given up. */
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
