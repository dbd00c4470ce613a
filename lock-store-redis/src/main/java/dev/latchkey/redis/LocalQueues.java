package dev.latchkey.redis;

import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The waiters of one store, by resource, in order of arrival: those that want an exclusive hold and claim none.
 *
 * <p>Whoever finds another one before it stays <em>at home</em> for a moment, and does not ask the server. A release by this
 * store takes the first one along if that is at home. Its reply says what became of that waiter: it was granted the lock, or
 * has a place in the queue on the server, at the time of its arrival. After that moment a waiter asks for such a place itself.
 */
final class LocalQueues {

    /** How long a waiter of a store is at home at most. After that the server knows of it, and so does everybody who looks. */
    static final Duration AT_HOME = Duration.ofMillis(20);

    private final long atHomeNanos;
    private final ReentrantLock guard = new ReentrantLock();
    private final Map<String, Queue> queues = new HashMap<>();

    /** The waiters for one resource, and when they came. */
    private static final class Queue {

        private final Set<Place> places = new LinkedHashSet<>();
        private final Arrivals arrivals = new Arrivals();

        private @Nullable Place first() {
            return places.isEmpty() ? null : places.iterator().next();
        }
    }

    /** @param atHome how long a waiter is at home at most */
    LocalQueues(Duration atHome) {
        atHomeNanos = atHome.toNanos();
    }

    private enum State {
        AT_HOME,
        TAKEN_ALONG,
        ASKS
    }

    /** Returns the place of a new waiter, which is in no queue yet. */
    Place place(AttemptRequests requests) {
        return new Place(requests);
    }

    /**
     * Takes along the first waiter for a resource, if it is at home. It then neither asks nor leaves until the caller calls {@link Place#answered}, which
     * it must do.
     */
    Optional<Place> takeAlong(String resource) {
        return guarded(() -> {
            Queue queue = queues.get(resource);
            Place first = queue == null ? null : queue.first();
            if (first == null || first.state != State.AT_HOME) {
                return Optional.empty();
            }
            first.state = State.TAKEN_ALONG;
            first.wasTakenAlong = true;
            return Optional.of(first);
        });
    }

    private <T> T guarded(Supplier<T> work) {
        guard.lock();
        try {
            return work.get();
        } finally {
            guard.unlock();
        }
    }

    /** One waiter's place. What may change is guarded by the queues. */
    final class Place {

        private final AttemptRequests requests;
        private final CompletableFuture<Void> answered = new CompletableFuture<>();

        private State state = State.ASKS;
        private @Nullable Waiter waiter;
        private boolean wasAtHome;
        private boolean wasTakenAlong;
        private boolean isTicketAwaited;
        private long arrivedNanos;
        private long ticket;
        private int ticketGeneration;
        private NotificationChannel.Push push = NotificationChannel.Push.NONE;

        private Place(AttemptRequests requests) {
            this.requests = requests;
        }

        /**
         * Joins the end of the queue. A request that no release can take along does not.
         *
         * @param newcomer is told when it has to ask
         * @param how the server can notify it
         * @param generation of the connection
         * @return whether it is at home: others are before it, and the time of its arrival on the server's clock is known
         */
        boolean join(Waiter newcomer, NotificationChannel.Push how, int generation) {
            if (!requests.canBeTakenAlong()) {
                return false;
            }
            return guarded(() -> {
                waiter = newcomer;
                push = how;
                Queue queue = queues.computeIfAbsent(requests.resource(), name -> new Queue());
                arrivedNanos = System.nanoTime();
                wasAtHome = !queue.places.isEmpty() && queue.arrivals.isTimeKnown(arrivedNanos, generation);
                state = wasAtHome ? State.AT_HOME : State.ASKS;
                if (!wasAtHome) {
                    awaitTicket(queue);
                }
                queue.places.add(this);
                return wasAtHome;
            });
        }

        /** Returns what stands for the waiter in the queue on the server. */
        String member() {
            return requests.member(push);
        }

        long homeUntilNanos() {
            return arrivedNanos + atHomeNanos;
        }

        /** Leaves home. Returns whether the waiter may ask; false while a release takes it along. */
        boolean mayAsk() {
            return guarded(() -> {
                state = state == State.AT_HOME ? State.ASKS : state;
                return state == State.ASKS;
            });
        }

        /**
         * Returns the time of arrival by the server's clock, in microseconds: what the ticket would be, to the accuracy of one
         * round trip, if the waiter had asked then. It stays, and is in the order of arrival among the waiters of this store. Returns 0 if the
         * waiter did ask then, the server's time is not known, or one before it has no answer yet: then it is the time of asking.
         *
         * @param generation of the connection
         */
        long ticket(int generation) {
            return guarded(() -> {
                Queue queue = queues.get(requests.resource());
                if (queue == null || !wasAtHome) {
                    return 0L;
                }
                if (ticket == 0 || ticketGeneration != generation) {
                    ticket = queue.arrivals.ticket(arrivedNanos, generation);
                    ticketGeneration = generation;
                }
                if (ticket == 0) {
                    awaitTicket(queue);
                }
                return ticket;
            });
        }

        private void awaitTicket(Queue queue) {
            if (!isTicketAwaited) {
                isTicketAwaited = true;
                queue.arrivals.asked();
            }
        }

        private void endAwaitingTicket(Queue queue) {
            if (isTicketAwaited) {
                isTicketAwaited = false;
                queue.arrivals.answered();
            }
        }

        /** Notes what time it was on the server. */
        void noteTime(QueuePosition time) {
            noteAnswer(queue -> queue.arrivals.noteTime(time));
        }

        /** Notes the ticket that this has in the queue on the server, and what time it was there. */
        void noteTicket(long now, QueuePosition time) {
            noteAnswer(queue -> {
                queue.arrivals.noteTime(time);
                queue.arrivals.noteTicket(arrivedNanos, time.generation(), now);
                endAwaitingTicket(queue);
            });
        }

        private void noteAnswer(Consumer<Queue> note) {
            guard.lock();
            try {
                Queue queue = queues.get(requests.resource());
                if (queue != null) {
                    note.accept(queue);
                }
            } finally {
                guard.unlock();
            }
        }

        /** The server has answered the release that took this along, or will not. */
        void answered() {
            var unused = guarded(() -> state = State.ASKS);
            answered.complete(null);
        }

        /** Has the waiter ask, if it has got no answer. */
        void leaveHome() {
            if (waiter != null) {
                waiter.leaveHome();
            }
        }

        /** Leaves home, after the answer to a release that takes this along. Returns whether there was such a release. */
        boolean awaitAnswer(Duration maxWait) {
            if (!mayAsk()) {
                try {
                    Uninterruptibles.await(answered, maxWait);
                } catch (ExecutionException | TimeoutException e) {
                    return true;
                }
            }
            return guarded(() -> wasTakenAlong);
        }

        /** Leaves the queue. If nothing was granted, no release by this waiter takes the next along. */
        void leave(boolean isGranted) {
            Optional<Place> next = guarded(() -> {
                Queue queue = queues.get(requests.resource());
                if (queue == null) {
                    return Optional.empty();
                }
                boolean wasFirst = queue.first() == this;
                queue.places.remove(this);
                endAwaitingTicket(queue);
                if (queue.places.isEmpty()) {
                    queues.remove(requests.resource());
                }
                return Optional.ofNullable(wasFirst ? queue.first() : null);
            });
            if (!isGranted) {
                next.ifPresent(Place::leaveHome);
            }
        }
    }
}
