package dev.latchkey.redis;

import org.jspecify.annotations.Nullable;

/**
 * When the waiters of one store came for a resource, by the clock of the server that has it. How exactly that is known changes from
 * answer to answer; a ticket that was taken once stays, and later ones are behind it. Not thread-safe.
 */
final class Arrivals {

    private @Nullable QueuePosition clock;

    /** The ticket of the waiter that came last, of those that have one. */
    private long lastTicket;

    private long lastArrivedNanos;
    private int generation;

    /** How many have asked on arrival, and do not know their ticket yet. */
    private int unanswered;

    /** Notes what time it was on the server. */
    void noteTime(QueuePosition time) {
        if (clock == null || time.isMoreExactThan(clock)) {
            clock = time;
        }
    }

    /** Whether the server's time is known. */
    boolean isTimeKnown(long nanos, int currentGeneration) {
        return timeAt(nanos, currentGeneration) > 0;
    }

    private long timeAt(long nanos, int currentGeneration) {
        return clock == null ? 0 : clock.microsAt(nanos, currentGeneration);
    }

    /** One has asked on arrival: the server gives it its ticket. */
    void asked() {
        unanswered++;
    }

    /** Such a one has its ticket, or has left. */
    void answered() {
        unanswered--;
    }

    /**
     * Returns a ticket for the one that came at some time, behind those of all that came before. Returns 0, for the server's time when it asks, if
     * the server's time is not known; or if one that came before does not know its ticket yet: what is sent later is answered later.
     */
    long ticket(long arrivedNanos, int currentGeneration) {
        long time = timeAt(arrivedNanos, currentGeneration);
        if (time == 0 || unanswered > 0) {
            return 0;
        }
        if (generation != currentGeneration || lastTicket == 0) {
            return taken(arrivedNanos, currentGeneration, time);
        }
        boolean cameBefore = arrivedNanos - lastArrivedNanos < 0;
        return cameBefore
                ? Math.min(time, lastTicket - 1)
                : taken(arrivedNanos, currentGeneration, Math.max(time, lastTicket + 1));
    }

    /** Notes the ticket of one that the server has given it. */
    void noteTicket(long arrivedNanos, int currentGeneration, long ticket) {
        if (generation != currentGeneration || lastTicket == 0 || arrivedNanos - lastArrivedNanos > 0) {
            long unused = taken(arrivedNanos, currentGeneration, ticket);
        }
    }

    private long taken(long arrivedNanos, int currentGeneration, long ticket) {
        generation = currentGeneration;
        lastArrivedNanos = arrivedNanos;
        lastTicket = ticket;
        return ticket;
    }
}
