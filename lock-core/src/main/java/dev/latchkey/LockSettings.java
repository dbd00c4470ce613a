package dev.latchkey;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a Lock was made with, and the limits of it.
 *
 * @param minHold zero: none
 * @param maxHold {@link #LONGEST}: none
 * @param sticky how long what is released is kept; zero: not at all
 */
record LockSettings(
        Duration ttl,
        RenewalPolicy renewal,
        AutoRelease autoRelease,
        OnLoss onLoss,
        Duration minHold,
        Duration maxHold,
        Optional<Warning> warning,
        List<Consumer<? super LossReason>> lossListeners,
        Resources resources,
        Duration sticky) {

    static final String NO_MIN_HOLD = "a minHold needs a store with leases, and this store has none";

    static final String NO_STICKY =
            "this store cannot recall a hold, so no lock can stay with its process: leave sticky() out,"
                    + " or use a store with Capability.STICKY";

    static final Duration DEFAULT_TTL = Duration.ofMinutes(5);

    /** Far enough to mean "for ever", near enough for arithmetic on {@link System#nanoTime()}. */
    static final Duration LONGEST = Duration.ofDays(36_500);

    /** Who refreshes a lease before it runs out. */
    enum RenewalPolicy {
        BY_THE_HOLDER,
        BY_THE_FACTORY
    }

    /** Where the key of a Lock comes from. */
    enum Origin {
        MADE_HERE,
        RECEIVED
    }

    /** How many resources a Lock has. */
    enum Resources {
        ONE,
        SEVERAL
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

    /** Whether a hold that is lost may be in the store in part. */
    boolean mayLeaveParts() {
        return resources == Resources.SEVERAL;
    }

    boolean hasMaxHold() {
        return maxHold.compareTo(LONGEST) < 0;
    }

    /** What of a TTL may be asked for, so that the store, too, ends a hold with its max hold. */
    Duration bounded(Duration wanted, @Nullable HoldTracker current) {
        if (!hasMaxHold()) {
            return wanted;
        }
        Duration rest =
                current == null ? maxHold : current.endAfter(maxHold.toNanos()).remaining();
        return min(wanted, max(rest, Deadline.SHORTEST_TTL));
    }

    /** Whether the end of a hold has to be noticed when nobody calls. */
    boolean needsAlarm() {
        return isRenewed() || hasMaxHold() || warning.isPresent() || onLoss == OnLoss.IS_INTERRUPTED;
    }

    /** What of a hold may be believed, so that it ends with its max hold, also where no time bounds it in the store. */
    Hold bounded(Hold granted, HoldTracker current) {
        return hasMaxHold() ? granted.endingAt(current.endAfter(maxHold.toNanos())) : granted;
    }

    static Duration checkTtl(Duration ttl) {
        Objects.requireNonNull(ttl, "ttl must not be null: leave it out for the default of " + DEFAULT_TTL);
        if (ttl.compareTo(Deadline.SHORTEST_TTL) < 0 || ttl.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("a TTL of " + ttl + " is out of range: it must be from "
                    + Deadline.SHORTEST_TTL + " (a shorter one could end before it is granted) to " + LONGEST);
        }
        return ttl;
    }

    static Duration checkMinHold(Duration minHold) {
        if (minHold.isNegative() || minHold.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(
                    "minHold " + minHold + " is out of range: it must be from zero to " + LONGEST);
        }
        return minHold;
    }

    static Duration checkMaxWait(Duration maxWait) {
        Objects.requireNonNull(maxWait, "maxWait must not be null: use acquire() to wait without limit");
        if (maxWait.isNegative()) {
            throw new IllegalArgumentException(
                    "a max wait of " + maxWait + " is negative: zero tries once without waiting");
        }
        return maxWait.compareTo(LONGEST) > 0 ? LONGEST : maxWait;
    }

    static Duration min(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    static Duration max(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? other : one;
    }
}
