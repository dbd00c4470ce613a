package dev.latchkey;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a Lock was made with.
 *
 * @param minHold zero: none
 * @param maxHold {@link Durations#LONGEST}: none
 */
record LockSettings(
        Duration ttl,
        RenewalPolicy renewal,
        AutoRelease autoRelease,
        OnLoss onLoss,
        Duration minHold,
        Duration maxHold,
        Optional<Warning> warning,
        List<Consumer<? super LossReason>> lossListeners) {

    /** Who refreshes a lease before it runs out. */
    enum RenewalPolicy {
        BY_THE_HOLDER,
        BY_THE_FACTORY
    }

    /** What becomes of a hold when the factory is closed. */
    enum AutoRelease {
        ON,
        OFF
    }

    /** What becomes of the thread that acquired what is lost. */
    enum OnLoss {
        GOES_ON,
        IS_INTERRUPTED
    }

    /** Who wants to know that a hold will soon be over. */
    record Warning(Duration before, Consumer<? super Duration> listener) {}

    boolean isRenewed() {
        return renewal == RenewalPolicy.BY_THE_FACTORY;
    }

    boolean hasMaxHold() {
        return maxHold.compareTo(Durations.LONGEST) < 0;
    }

    /** What of a TTL may be asked for, so that the store, too, ends a hold with its max hold. */
    Duration bounded(Duration wanted, @Nullable HoldTracker current) {
        if (!hasMaxHold()) {
            return wanted;
        }
        Duration rest =
                current == null ? maxHold : current.endAfter(maxHold.toNanos()).remaining();
        return Durations.min(wanted, Durations.max(rest, Durations.SHORTEST_TTL));
    }

    /** Whether the end of a hold has to be noticed when nobody calls. */
    boolean needsAlarm() {
        return isRenewed() || hasMaxHold() || warning.isPresent() || onLoss == OnLoss.IS_INTERRUPTED;
    }
}
