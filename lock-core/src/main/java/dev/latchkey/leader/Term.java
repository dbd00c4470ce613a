package dev.latchkey.leader;

import dev.latchkey.Lock;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;

/**
 * One time of leading, from the grant of a lock to its end. It ends when the leader resigns, when the election is closed, or
 * the stop time before the lease of the lock ends, if that was not renewed. Once ended, it stays so.
 *
 * <p>Thread-safe.
 */
public final class Term {

    private final Lock lock;
    private final OptionalLong number;
    private final Duration stopTime;
    private final CompletableFuture<TermEnd> end = new CompletableFuture<>();

    Term(Lock held, Duration stopTime) {
        this.lock = held;
        this.number = held.fencingToken();
        this.stopTime = stopTime;
    }

    /**
     * Returns whether this process still leads, by its own monotonic clock and without asking the store. It is false before
     * the store lets another process lead.
     *
     * <p>A process can be stopped after it has asked and before it uses the answer, for longer than a lease. Let what it
     * changes refuse smaller {@linkplain #number() numbers}.
     *
     * @return false from the end of the term on
     */
    public boolean lasts() {
        if (end.isDone()) {
            return false;
        }
        if (remaining().filter(Duration::isZero).isPresent()) {
            end(TermEnd.LOST);
        }
        return !end.isDone();
    }

    /**
     * Returns the number of this term: the fencing token of its lock, which is greater than that of every earlier term. A
     * resource can refuse requests with a smaller number than it has seen.
     *
     * @return the same throughout the term
     * @throws UnsupportedOperationException if the store has no fencing tokens
     */
    public long number() {
        return number.orElseThrow(() ->
                new UnsupportedOperationException("this store has no fencing tokens, so that terms have no numbers"));
    }

    /**
     * Returns how long this term lasts if nothing renews the lease of its lock any more, by the local monotonic clock.
     *
     * @return zero if it has ended; empty if it has no time limit, on a store without leases
     */
    public Optional<Duration> remaining() {
        if (end.isDone()) {
            return Optional.of(Duration.ZERO);
        }
        return lock.remainingLifetime().map(this::withoutStopTime);
    }

    private Duration withoutStopTime(Duration lease) {
        return lease.compareTo(stopTime) > 0 ? lease.minus(stopTime) : Duration.ZERO;
    }

    /** Ends it, unless it has ended before, which it returns. */
    boolean end(TermEnd why) {
        return end.complete(why);
    }

    CompletableFuture<TermEnd> end() {
        return end;
    }

    Lock lock() {
        return lock;
    }

    String shownNumber() {
        return number.isPresent() ? Long.toString(number.getAsLong()) : "-";
    }

    /** Returns the number, and whether the term lasts. */
    @Override
    public String toString() {
        return "Term[" + shownNumber() + ", " + (lasts() ? "lasts" : "has ended") + "]";
    }
}
