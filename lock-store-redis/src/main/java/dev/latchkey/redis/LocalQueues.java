package dev.latchkey.redis;

import dev.latchkey.LockMode;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
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

    /** How long a waiter is at home at most. After that the server knows of it, and so does everybody who looks. */
    private static final long AT_HOME_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final ReentrantLock guard = new ReentrantLock();
    private final Map<String, Queue> queues = new HashMap<>();

    /** The waiters for one resource, and a time of this JVM with that of the server which has the resource. */
    private static final class Queue {

        private final Set<Place> places = new LinkedHashSet<>();
        private @Nullable QueuePosition clock;

        private long arrival(Place place, int generation) {
            return clock == null ? 0 : clock.microsAt(place.arrivedNanos, generation);
        }

        private @Nullable Place first() {
            return places.isEmpty() ? null : places.iterator().next();
        }
    }

    private enum State {
        AT_HOME,
        TAKEN_ALONG,
        ASKS
    }

    /**
     * Returns the place of a new waiter, which is in no queue yet.
     *
     * @param wakeUp called from any thread when the waiter has to ask, unless it has got an answer
     */
    Place place(Request request, Runnable wakeUp) {
        return new Place(request, wakeUp);
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

        private final String resource;
        private final boolean canBeTakenAlong;
        private final Runnable wakeUp;
        private final CompletableFuture<Void> answered = new CompletableFuture<>();

        private State state = State.ASKS;
        private boolean wasAtHome;
        private long arrivedNanos;
        private String member = "";

        private Place(Request request, Runnable wakeUp) {
            this.resource = request.key().resource();
            this.canBeTakenAlong = request.mode() == LockMode.EXCLUSIVE
                    && request.key().held().isEmpty()
                    && request.leaseChange() == LeaseChange.EXTEND;
            this.wakeUp = wakeUp;
        }

        /**
         * Joins the end of the queue. A request that no release can take along does not.
         *
         * @param member what stands for it in the queue on the server
         * @param generation of the connection
         * @return whether it is at home: others are before it, and the time of its arrival on the server's clock is known
         */
        boolean join(String member, int generation) {
            if (!canBeTakenAlong) {
                return false;
            }
            return guarded(() -> {
                this.member = member;
                Queue queue = queues.computeIfAbsent(resource, name -> new Queue());
                arrivedNanos = System.nanoTime();
                wasAtHome = !queue.places.isEmpty() && queue.arrival(this, generation) > 0;
                state = wasAtHome ? State.AT_HOME : State.ASKS;
                queue.places.add(this);
                return wasAtHome;
            });
        }

        String member() {
            return member;
        }

        long homeUntilNanos() {
            return arrivedNanos + AT_HOME_NANOS;
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
         * round trip, if the waiter had asked then. Returns 0 if the waiter did ask then, or the server's time is not known.
         *
         * @param generation of the connection
         */
        long ticket(int generation) {
            return guarded(() -> {
                Queue queue = queues.get(resource);
                return queue == null || !wasAtHome ? 0L : queue.arrival(this, generation);
            });
        }

        /** Notes what time it was on the server. */
        void noteTime(QueuePosition time) {
            guarded(() -> {
                Queue queue = queues.get(resource);
                if (queue != null) {
                    queue.clock = time;
                }
                return queue;
            });
        }

        /** The server has answered the release that took this along, or will not. */
        void answered() {
            guarded(() -> state = State.ASKS);
            answered.complete(null);
        }

        /** Has the waiter ask, if it has got no answer. */
        void wakeUp() {
            wakeUp.run();
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
            return answered.isDone();
        }

        /** Leaves the queue. If nothing was granted, no release by this waiter takes the next along. */
        void leave(boolean isGranted) {
            Optional<Place> next = guarded(() -> {
                Queue queue = queues.get(resource);
                if (queue == null) {
                    return Optional.empty();
                }
                boolean wasFirst = queue.first() == this;
                queue.places.remove(this);
                if (queue.places.isEmpty()) {
                    queues.remove(resource);
                }
                return Optional.ofNullable(wasFirst ? queue.first() : null);
            });
            if (!isGranted) {
                next.ifPresent(Place::wakeUp);
            }
        }
    }
}
