package dev.latchkey;

import dev.latchkey.LockSettings.Warning;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Makes a {@link Lock} with more than a TTL. Not thread-safe; the Locks it makes are. */
public final class LockBuilder {

    static final String NO_MIN_HOLD =
            "a minHold needs a store with leases, to keep the resource after a release: this one has none";

    private final FactoryContext context;
    private final Supplier<Key> key;
    private final LockEngine.Origin origin;
    private final List<Consumer<? super LossReason>> lossListeners = new ArrayList<>();
    private Duration ttl = Durations.DEFAULT_TTL;
    private LockSettings.RenewalPolicy renewal = LockSettings.RenewalPolicy.BY_THE_HOLDER;
    private LockSettings.AutoRelease autoRelease;
    private LockSettings.OnLoss onLoss = LockSettings.OnLoss.GOES_ON;
    private Duration minHold = Duration.ZERO;
    private Duration maxHold = Durations.LONGEST;
    private @Nullable Warning warning;

    LockBuilder(FactoryContext context, String resource) {
        this(context, () -> Key.of(resource), LockEngine.Origin.MADE_HERE, LockSettings.AutoRelease.ON);
    }

    /** What is only received here may be held by somebody who works under it. */
    LockBuilder(FactoryContext context, Key received) {
        this(context, () -> received, LockEngine.Origin.RECEIVED, LockSettings.AutoRelease.OFF);
    }

    private LockBuilder(
            FactoryContext context, Supplier<Key> key, LockEngine.Origin origin, LockSettings.AutoRelease autoRelease) {
        this.context = context;
        this.key = key;
        this.origin = origin;
        this.autoRelease = autoRelease;
    }

    /**
     * Sets after what time the store ends the hold by itself if it is not refreshed; 300 s unless set.
     *
     * @param newTtl from 3 ms to 100 years, and what the store can keep; ignored where holds do not expire
     * @return this
     * @throws IllegalArgumentException if it is out of range
     */
    public LockBuilder ttl(Duration newTtl) {
        this.ttl = Durations.checkTtl(newTtl);
        return this;
    }

    /**
     * Has the factory refresh the hold at every third of its TTL, until it is released or lost.
     *
     * @return this
     */
    public LockBuilder autoRefresh() {
        this.renewal = LockSettings.RenewalPolicy.BY_THE_FACTORY;
        return this;
    }

    /**
     * Has the hold released when the factory is closed, and when the JVM exits in an orderly way. So it is unless the Lock is
     * made for a key from elsewhere.
     *
     * @return this
     */
    public LockBuilder autoRelease() {
        this.autoRelease = LockSettings.AutoRelease.ON;
        return this;
    }

    /**
     * Leaves the hold in the store when the factory is closed: it ends by release elsewhere or with its TTL. So it is for a Lock
     * made for a key from elsewhere.
     *
     * @return this
     */
    public LockBuilder withoutAutoRelease() {
        this.autoRelease = LockSettings.AutoRelease.OFF;
        return this;
    }

    /**
     * Has a listener called when a hold is lost, as {@link Lock#onLost(Consumer)}.
     *
     * @param listener told why
     * @return this
     */
    public LockBuilder onLost(Consumer<? super LossReason> listener) {
        lossListeners.add(Objects.requireNonNull(listener, "listener"));
        return this;
    }

    /**
     * Has a listener called when the hold will be over soon unless it is refreshed: early enough to stop at a safe point.
     * Called once for each end that comes that near, on a thread of the factory. Called again, this replaces the last one.
     *
     * @param before how long before the end, less than the TTL; less than two thirds of it with {@link #autoRefresh()}
     * @param listener told how much is left when it was called
     * @return this
     * @throws IllegalArgumentException if the time is not positive
     */
    public LockBuilder warnBefore(Duration before, Consumer<? super Duration> listener) {
        this.warning = new Warning(checkPositive(before, "warnBefore"), Objects.requireNonNull(listener, "listener"));
        return this;
    }

    /**
     * Has the thread that acquired the hold last interrupted when the hold is lost, before anybody else can have it. A
     * thread that learns of the loss by a call of its own is not interrupted, and none is once release has returned.
     *
     * @return this
     */
    public LockBuilder interruptOnLoss() {
        this.onLoss = LockSettings.OnLoss.IS_INTERRUPTED;
        return this;
    }

    /**
     * Keeps the resource from others for this long after it was acquired, though it is released sooner: the release turns
     * into a short lease that nobody refreshes. For work that runs at about the same time in many places, as by cron, and
     * must be done in one of them. This Lock, too, has to wait for its end.
     *
     * @param atLeast how long, counted from the grant; zero for not at all
     * @return this
     * @throws IllegalArgumentException if it is negative
     */
    public LockBuilder minHold(Duration atLeast) {
        this.minHold = Durations.checkMinHold(atLeast);
        return this;
    }

    /**
     * Ends a hold this long after it was acquired, as lost by {@link LossReason#EXPIRED}, however often it is refreshed:
     * work that hangs then does not keep the resource for ever.
     *
     * @param atMost how long, counted from the grant
     * @return this
     * @throws IllegalArgumentException if it is less than the shortest TTL
     */
    public LockBuilder maxHold(Duration atMost) {
        this.maxHold = Durations.checkTtl(atMost);
        return this;
    }

    /**
     * Makes a Lock; each call makes another would-be holder, unless it is for a key from elsewhere.
     *
     * @return a Lock that holds nothing yet
     * @throws IllegalArgumentException if the durations contradict each other
     * @throws UnsupportedOperationException if there is a min hold, and the store has no {@link Capability#LEASES}
     */
    public Lock create() {
        check();
        LockSettings settings = new LockSettings(
                ttl,
                renewal,
                autoRelease,
                onLoss,
                minHold,
                maxHold,
                Optional.ofNullable(warning),
                List.copyOf(lossListeners));
        return new Lock(context, key.get(), settings, origin);
    }

    private void check() {
        if (minHold.compareTo(maxHold) > 0) {
            throw new IllegalArgumentException(
                    "a minHold of " + minHold + " is longer than the maxHold of " + maxHold + ": it must not be");
        }
        if (!minHold.isZero() && context.expiring().isEmpty()) {
            throw new UnsupportedOperationException(NO_MIN_HOLD);
        }
        boolean renewed = renewal == LockSettings.RenewalPolicy.BY_THE_FACTORY;
        Duration limit = renewed ? ttl.multipliedBy(2).dividedBy(3) : ttl;
        if (warning != null
                && context.expiring().isPresent()
                && warning.before().compareTo(limit) >= 0) {
            throw new IllegalArgumentException("warnBefore " + warning.before() + " must be less than " + limit
                    + (renewed ? ", two thirds of the TTL: the rest is left after every refresh" : ", the TTL"));
        }
    }

    private static Duration checkPositive(Duration time, String option) {
        if (time.isNegative() || time.isZero() || time.compareTo(Durations.LONGEST) > 0) {
            throw new IllegalArgumentException(option + " " + time
                    + " is out of range: it must be more than zero and at most " + Durations.LONGEST);
        }
        return time;
    }
}
