package dev.latchkey.spi;

import dev.latchkey.LossReason;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;

/**
 * The limits of a hold: a time, a session, both, or none.
 *
 * @param since the {@link System#nanoTime()} at which the TTL starts. It is <em>not later</em> than the moment at which
 *     the server started to count: the time before the request was sent. Empty if the hold has no time limit
 * @param ttl how long the store keeps the hold, from {@code since} on; zero if the hold has no time limit
 * @param lost completes with the reason when the store notices that this hold has ended without a release. There is one
 *     stage per hold, which is dropped on release. Empty if the store cannot notice this
 * @param isLive returns false as soon as the session may have ended, by this process's clock, and from then on. It is
 *     called whenever the holder checks its hold: when a frozen process resumes, the holder may check before a thread of
 *     the store completes {@code lost}. It sends no request, does not wait and makes no callbacks. It always returns true
 *     if the store cannot tell. All holds of a session have the same object
 * @param recalled completes when somebody else asks for the resource, for which {@link RecallableStore} has the rules. There
 *     is one stage per hold. Empty if the hold is not sticky
 */
public record Lease(
        OptionalLong since,
        Duration ttl,
        Optional<CompletionStage<LossReason>> lost,
        BooleanSupplier isLive,
        Optional<CompletionStage<Void>> recalled) {

    /** For a hold that does not end with a session, or with a session whose end is reported only through {@code lost}. */
    public static final BooleanSupplier ALWAYS = () -> true;

    private static final long DRIFT_NANOS = Duration.ofMillis(2).toNanos();

    private static final Lease ENDLESS = new Lease(OptionalLong.empty(), Duration.ZERO, Optional.empty(), ALWAYS);

    /**
     * Creates the lease of an ordinary hold.
     *
     * @param since the {@link System#nanoTime()} at which the TTL starts; empty if the hold has no time limit
     * @param ttl how long the store keeps the hold; zero if the hold has no time limit
     * @param lost completes when the store notices that the hold has ended without a release; empty if it cannot
     * @param isLive returns false as soon as the session may have ended
     */
    public Lease(OptionalLong since, Duration ttl, Optional<CompletionStage<LossReason>> lost, BooleanSupplier isLive) {
        this(since, ttl, lost, isLive, Optional.empty());
    }

    /**
     * Returns until when a holder may rely on a lease if its clock and that of the store do not run alike: 1 % and 2 ms less
     * than the TTL.
     *
     * @param sinceNanos the {@link System#nanoTime()} at which the TTL starts
     * @param ttl the TTL
     * @return a {@link System#nanoTime()}
     */
    public static long reliableUntil(long sinceNanos, Duration ttl) {
        long nanos = ttl.toNanos();
        return sinceNanos + nanos - nanos / 100 - DRIFT_NANOS;
    }

    /**
     * Returns the lease of a hold that ends only by release or with the process.
     *
     * @return a lease without a time and without a session
     */
    public static Lease endless() {
        return ENDLESS;
    }

    /**
     * Returns the lease of a hold that the store ends by itself.
     *
     * @param sinceNanos a {@link System#nanoTime()} that is not later than the moment at which the store started to count
     * @param ttl how long the store keeps the hold
     * @return a lease that is limited by time
     */
    public static Lease timed(long sinceNanos, Duration ttl) {
        return new Lease(OptionalLong.of(sinceNanos), ttl, Optional.empty(), ALWAYS);
    }

    /**
     * Returns the lease of a hold that lasts as long as a session whose end is known only when the server reports it.
     *
     * @param lost completes when the session has ended
     * @return a lease that is limited by a session
     */
    public static Lease session(CompletionStage<LossReason> lost) {
        return session(lost, ALWAYS);
    }

    /**
     * Returns the lease of a hold that lasts as long as a session.
     *
     * @param lost completes when the session has ended, or may have ended
     * @param isLive returns false as soon as the session may have ended, by this process's clock
     * @return a lease that is limited by a session
     */
    public static Lease session(CompletionStage<LossReason> lost, BooleanSupplier isLive) {
        return new Lease(OptionalLong.empty(), Duration.ZERO, Optional.of(lost), isLive);
    }

    /**
     * Returns a lease with the same session and another time.
     *
     * @param newSince the {@link System#nanoTime()} at which the TTL starts; empty for no time limit
     * @param newTtl how long the store keeps the hold; zero for no time limit
     * @return a lease that differs only in the time
     */
    public Lease withTime(OptionalLong newSince, Duration newTtl) {
        return new Lease(newSince, newTtl, lost, isLive, recalled);
    }

    /** Returns the times, and whether the store notices an end without a release; the rest has no useful text. */
    @Override
    public String toString() {
        return "Lease[since=" + since + ", ttl=" + ttl + ", isWatched=" + lost.isPresent() + "]";
    }
}
