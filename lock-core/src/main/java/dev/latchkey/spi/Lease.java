package dev.latchkey.spi;

import dev.latchkey.LossReason;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;

/**
 * What bounds a hold: a time, a session, both, or nothing.
 *
 * @param since the {@link System#nanoTime()} from which the TTL counts, <em>not later</em> than the moment the server
 *     began to count: the time before the request was sent. Empty when no time bounds the hold
 * @param ttl how long the store keeps the hold from {@code since} on; zero when no time bounds it
 * @param lost completes with the reason when the store notices that this hold has ended without a release; one stage per
 *     hold, dropped on release. Empty where the store cannot notice
 */
public record Lease(OptionalLong since, Duration ttl, Optional<CompletionStage<LossReason>> lost) {

    private static final Lease ENDLESS = new Lease(OptionalLong.empty(), Duration.ZERO, Optional.empty());

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
        return new Lease(OptionalLong.of(sinceNanos), ttl, Optional.empty());
    }

    /**
     * A hold that lasts as long as a session.
     *
     * @param lost completes when the session has ended
     * @return a lease bounded by a session
     */
    public static Lease session(CompletionStage<LossReason> lost) {
        return new Lease(OptionalLong.empty(), Duration.ZERO, Optional.of(lost));
    }
}
