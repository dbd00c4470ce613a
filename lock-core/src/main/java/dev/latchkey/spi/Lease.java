package dev.latchkey.spi;

import dev.latchkey.LossReason;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;

/**
 * What bounds a hold: a time, a session, both, or nothing.
 *
 * @param since the {@link System#nanoTime()} from which the TTL counts, <em>not later</em> than the moment the server
 *     began to count: the time before the request was sent. Empty when no time bounds the hold
 * @param ttl how long the store keeps the hold from {@code since} on; zero when no time bounds it
 * @param lost completes with the reason when the store notices that this hold has ended without a release; one stage per
 *     hold, dropped on release. Empty where the store cannot notice
 * @param isLive false as soon as the session may have ended, by this process's clock, and from then on. Asked whenever the
 *     holder looks: a process that was frozen goes on with all its threads at once, so that a holder may look before a thread
 *     of the store has come to complete {@code lost}. It asks no server, does not wait, and calls nobody; always true where
 *     the store cannot tell. The same object for all holds of one session
 */
public record Lease(
        OptionalLong since, Duration ttl, Optional<CompletionStage<LossReason>> lost, BooleanSupplier isLive) {

    /** Of a hold that does not end with a session, or with one that only {@code lost} tells of. */
    public static final BooleanSupplier ALWAYS = () -> true;

    private static final Lease ENDLESS = new Lease(OptionalLong.empty(), Duration.ZERO, Optional.empty(), ALWAYS);

    /**
     * A hold that ends by release alone, or with the process.
     *
     * @return a lease without a time and without a session
     */
    public static Lease endless() {
        return ENDLESS;
    }

    /**
     * A hold that the store ends by itself.
     *
     * @param sinceNanos a {@link System#nanoTime()} not later than the store's own start of counting
     * @param ttl how long the store keeps it
     * @return a lease bounded by time
     */
    public static Lease timed(long sinceNanos, Duration ttl) {
        return new Lease(OptionalLong.of(sinceNanos), ttl, Optional.empty(), ALWAYS);
    }

    /**
     * A hold that lasts as long as a session, of whose end nothing is known before the server tells it.
     *
     * @param lost completes when the session has ended
     * @return a lease bounded by a session
     */
    public static Lease session(CompletionStage<LossReason> lost) {
        return session(lost, ALWAYS);
    }

    /**
     * A hold that lasts as long as a session.
     *
     * @param lost completes when the session has ended, or may have
     * @param isLive false as soon as it may have ended, by this process's clock
     * @return a lease bounded by a session
     */
    public static Lease session(CompletionStage<LossReason> lost, BooleanSupplier isLive) {
        return new Lease(OptionalLong.empty(), Duration.ZERO, Optional.of(lost), isLive);
    }

    /**
     * The same session, and another time.
     *
     * @param newSince as {@link #since()}
     * @param newTtl as {@link #ttl()}
     * @return this lease with that time
     */
    public Lease withTime(OptionalLong newSince, Duration newTtl) {
        return new Lease(newSince, newTtl, lost, isLive);
    }

    /** Returns all but what tells whether it is live, of which only the place in memory could be said. */
    @Override
    public String toString() {
        return "Lease[since=" + since + ", ttl=" + ttl + ", lost=" + lost + "]";
    }
}
