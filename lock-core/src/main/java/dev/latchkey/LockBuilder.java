package dev.latchkey;

import dev.latchkey.LockSettings.Warning;
import dev.latchkey.multi.MultiLockStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Creates {@link Lock}s with options. Not thread-safe; the Locks that it creates are. */
public final class LockBuilder {

    private final FactoryContext context;
    private final Supplier<Key> key;
    private final LockSettings.Origin origin;
    private final List<String> several;
    private final List<Consumer<? super LossReason>> lossListeners = new ArrayList<>();
    private Duration ttl = LockSettings.DEFAULT_TTL;
    private LockSettings.RenewalPolicy renewal = LockSettings.RenewalPolicy.BY_THE_HOLDER;
    private LockSettings.AutoRelease autoRelease;
    private LockSettings.OnLoss onLoss = LockSettings.OnLoss.GOES_ON;
    private Duration minHold = Duration.ZERO;
    private Duration maxHold = LockSettings.LONGEST;
    private Duration sticky = Duration.ZERO;
    private @Nullable Warning warning;

    LockBuilder(FactoryContext context, String resource) {
        this(context, () -> Key.of(resource), LockSettings.Origin.MADE_HERE, LockSettings.AutoRelease.ON, List.of());
    }

    /** For several resources, each named once. */
    LockBuilder(FactoryContext context, List<String> several) {
        this(
                context,
                () -> Key.of(MultiLockStore.name(several)),
                LockSettings.Origin.MADE_HERE,
                LockSettings.AutoRelease.ON,
                several);
    }

    /** What is only received here may be held by somebody who works under it. */
    LockBuilder(FactoryContext context, Key received) {
        this(context, () -> received, LockSettings.Origin.RECEIVED, LockSettings.AutoRelease.OFF, List.of());
    }

    private LockBuilder(
            FactoryContext context,
            Supplier<Key> key,
            LockSettings.Origin origin,
            LockSettings.AutoRelease autoRelease,
            List<String> several) {
        this.context = context;
        this.key = key;
        this.origin = origin;
        this.several = several;
        this.autoRelease = autoRelease;
    }

    /**
     * Sets the time after which the store ends a hold that is not refreshed. The default is 300 s.
     *
     * @param newTtl from 3 ms to 100 years, within the limits of the store; ignored by stores without leases
     * @return this
     * @throws IllegalArgumentException if {@code newTtl} is out of range
     */
    public LockBuilder ttl(Duration newTtl) {
        this.ttl = LockSettings.checkTtl(newTtl);
        return this;
    }

    /**
     * Makes the factory refresh the hold after each third of its TTL, until it is released or lost.
     *
     * @return this
     */
    public LockBuilder autoRefresh() {
        this.renewal = LockSettings.RenewalPolicy.BY_THE_FACTORY;
        return this;
    }

    /**
     * Makes the factory release the hold when it is closed and when the JVM exits normally. This is the default, except
     * for Locks for a key that was received from elsewhere.
     *
     * @return this
     */
    public LockBuilder autoRelease() {
        this.autoRelease = LockSettings.AutoRelease.ON;
        return this;
    }

    /**
     * Leaves the hold in the store when the factory is closed or the JVM exits: it ends with its TTL, or when it is
     * released elsewhere. This is the default for Locks for a key that was received from elsewhere.
     *
     * @return this
     */
    public LockBuilder withoutAutoRelease() {
        this.autoRelease = LockSettings.AutoRelease.OFF;
        return this;
    }

    /**
     * Adds a listener that is called once per hold if the hold ends without a release by this Lock. It is called on a
     * thread of the factory.
     *
     * @param listener receives the reason. It must return soon, because all listeners of the factory share one thread
     * @return this
     */
    public LockBuilder onLost(Consumer<? super LossReason> listener) {
        lossListeners.add(Objects.requireNonNull(listener, "listener"));
        return this;
    }

    /**
     * Sets a listener that is called when the hold will end soon unless it is refreshed, early enough to stop the work at
     * a safe point. It is called once for each lease end that comes this near, on a thread of the factory. A second call
     * of this method replaces the listener.
     *
     * @param before the time before the end: more than zero and less than the TTL, or less than two thirds of it with
     *     {@link #autoRefresh()}
     * @param listener receives the time that was left when it was called
     * @return this
     * @throws IllegalArgumentException if {@code before} is not positive
     */
    public LockBuilder warnBefore(Duration before, Consumer<? super Duration> listener) {
        this.warning = new Warning(checkPositive(before, "warnBefore"), Objects.requireNonNull(listener, "listener"));
        return this;
    }

    /**
     * Makes the factory interrupt the thread that last acquired the hold when the hold is lost, before another key can
     * acquire the lock. A thread that learns of the loss from its own call is not interrupted. No thread is interrupted
     * after release has returned.
     *
     * @return this
     */
    public LockBuilder interruptOnLoss() {
        this.onLoss = LockSettings.OnLoss.IS_INTERRUPTED;
        return this;
    }

    /**
     * Sets a minimum hold time: other keys cannot acquire the lock for this long after it was acquired, even if it is
     * released sooner. Such a release turns the hold into a short lease that nobody refreshes, and this Lock, too, has to
     * wait for its end. Use it for work that starts in several places at about the same time, for example by cron, and
     * must be done in only one of them.
     *
     * @param atLeast the time from the grant; zero for none
     * @return this
     * @throws IllegalArgumentException if {@code atLeast} is negative
     */
    public LockBuilder minHold(Duration atLeast) {
        this.minHold = LockSettings.checkMinHold(atLeast);
        return this;
    }

    /**
     * Sets a maximum hold time: the hold ends this long after it was acquired, however often it is refreshed, and is lost
     * with {@link LossReason#EXPIRED}. Work that hangs then cannot hold the lock for ever.
     *
     * @param atMost the time from the grant
     * @return this
     * @throws IllegalArgumentException if {@code atMost} is out of range, which is that of {@link #ttl}
     */
    public LockBuilder maxHold(Duration atMost) {
        this.maxHold = LockSettings.checkTtl(atMost);
        return this;
    }

    /**
     * Keeps the lock in this process after a release, so that the next Lock of this factory with this option that acquires it
     * asks nobody. It is for work that mostly comes to the same process. Whoever asks for the lock elsewhere has it recalled: what
     * nobody works under is released at once, what is in use when it is released.
     *
     * <p>What is kept is held for others. If this process dies, they wait for the TTL and {@code atMost}; where holds end with a
     * session, for that.
     *
     * @param atMost the time from the last contact with the store for which the lock may be acquired without another one: more
     *     than zero, and with the TTL at most 100 years
     * @return this
     * @throws IllegalArgumentException if {@code atMost} is out of range
     */
    public LockBuilder sticky(Duration atMost) {
        this.sticky = checkPositive(atMost, "sticky");
        return this;
    }

    /**
     * Creates a Lock. Each call creates a separate owner, except for a key that was received from elsewhere.
     *
     * @return a Lock that holds nothing yet
     * @throws IllegalArgumentException if the resource is too long or not valid Unicode, or if the durations contradict each
     *     other
     * @throws UnsupportedOperationException if a minimum hold time is set and the store has no {@link Capability#LEASES}; if
     *     the Lock is to be sticky and the store has no {@link Capability#STICKY}, or the Lock is one of several resources, of a
     *     semaphore, or for a key that was received from elsewhere
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
                List.copyOf(lossListeners),
                several.isEmpty() ? LockSettings.Resources.ONE : LockSettings.Resources.SEVERAL,
                sticky);
        return several.isEmpty()
                ? new Lock(factory(), key.get(), settings, origin, Optional.empty())
                : ofSeveral(settings);
    }

    private FactoryContext factory() {
        return sticky.isZero()
                ? context
                : context.sticky().orElseThrow(() -> new UnsupportedOperationException(LockSettings.NO_STICKY));
    }

    private Lock ofSeveral(LockSettings settings) {
        MultiLockStore view = new MultiLockStore(context.store(), several);
        return new Lock(context.over(view), key.get(), settings, origin, Optional.of(view));
    }

    private void check() {
        if (minHold.compareTo(maxHold) > 0) {
            throw new IllegalArgumentException(
                    "a minHold of " + minHold + " must not be longer than the maxHold of " + maxHold);
        }
        if (!minHold.isZero() && context.expiring().isEmpty()) {
            throw new UnsupportedOperationException(LockSettings.NO_MIN_HOLD);
        }
        checkSticky();
        boolean renewed = renewal == LockSettings.RenewalPolicy.BY_THE_FACTORY;
        Duration limit = renewed ? ttl.multipliedBy(2).dividedBy(3) : ttl;
        if (warning != null
                && context.expiring().isPresent()
                && warning.before().compareTo(limit) >= 0) {
            throw new IllegalArgumentException("warnBefore " + warning.before() + " must be less than " + limit
                    + (renewed
                            ? ", two thirds of the TTL, because autoRefresh() renews after each third"
                            : ", the TTL"));
        }
    }

    private void checkSticky() {
        if (sticky.isZero()) {
            return;
        }
        if (!several.isEmpty() || origin == LockSettings.Origin.RECEIVED) {
            throw new UnsupportedOperationException(
                    "a Lock of several resources, or for a key that was received, cannot be sticky: its hold is not this process's alone");
        }
        if (!minHold.isZero()) {
            throw new IllegalArgumentException(
                    "a minHold keeps the lock from everybody, sticky() keeps it for the next here: use one of them");
        }
        if (ttl.plus(sticky).compareTo(LockSettings.LONGEST) > 0) {
            throw new IllegalArgumentException("the TTL of " + ttl + " and sticky " + sticky
                    + " together are out of range: at most " + LockSettings.LONGEST);
        }
    }

    private static Duration checkPositive(Duration time, String option) {
        if (time.isNegative() || time.isZero() || time.compareTo(LockSettings.LONGEST) > 0) {
            throw new IllegalArgumentException(option + " " + time
                    + " is out of range: it must be more than zero and at most " + LockSettings.LONGEST);
        }
        return time;
    }
}
