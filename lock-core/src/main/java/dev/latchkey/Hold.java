package dev.latchkey;

import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Response;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What a Lock believes it holds.
 *
 * @param deadline until when, less the drift margin; null where no time bounds the hold
 * @param isLive false as soon as its session may have ended
 */
record Hold(
        LockMode mode,
        OptionalLong fencingToken,
        @Nullable Deadline deadline,
        Optional<CompletionStage<LossReason>> lost,
        BooleanSupplier isLive) {

    static Hold of(Response.Granted granted) {
        Lease lease = granted.lease();
        Deadline deadline = lease.since().isPresent()
                ? new Deadline(lease.since().getAsLong() + Durations.lessDriftNanos(lease.ttl()))
                : null;
        return new Hold(granted.mode(), granted.fencingToken(), deadline, lease.lost(), lease.isLive());
    }

    boolean isOver() {
        return isOverByTime() || !isLive.getAsBoolean();
    }

    /** Why it is over. */
    LossReason whyOver() {
        return isOverByTime() ? LossReason.EXPIRED : LossReason.SESSION_LOST;
    }

    private boolean isOverByTime() {
        return deadline != null && deadline.isOver();
    }

    /** The same hold, ending at the earlier of the two moments: of two answers that crossed, either may be the last. */
    Hold endingBy(@Nullable Deadline other) {
        boolean later = deadline != null && other != null && deadline.nanoTime() - other.nanoTime() > 0;
        return later ? new Hold(mode, fencingToken, other, lost, isLive) : this;
    }

    /** The same hold, ending no later than the given moment, also if no time bounds it so far. */
    Hold endingAt(Deadline latest) {
        return deadline == null ? new Hold(mode, fencingToken, latest, lost, isLive) : endingBy(latest);
    }

    /** The other hold, ending when this one does. */
    Hold as(Hold other) {
        return new Hold(other.mode, other.fencingToken, deadline, lost, isLive);
    }

    Hold demoted() {
        return new Hold(LockMode.SHARED, OptionalLong.empty(), deadline, lost, isLive);
    }

    Key.Held claim() {
        return new Key.Held(mode, fencingToken);
    }
}
