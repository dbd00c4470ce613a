package dev.latchkey;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/** Makes a {@link Lock} with more than a TTL. Not thread-safe; the Locks it makes are. */
public final class LockBuilder {

    private final Backend backend;
    private final String resource;
    private final List<Consumer<? super LossReason>> lossListeners = new ArrayList<>();
    private Duration ttl = Durations.DEFAULT_TTL;
    private LockSettings.Renewal renewal = LockSettings.Renewal.BY_THE_HOLDER;
    private LockSettings.AutoRelease autoRelease = LockSettings.AutoRelease.ON;

    LockBuilder(Backend backend, String resource) {
        this.backend = backend;
        this.resource = resource;
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
        this.renewal = LockSettings.Renewal.BY_THE_FACTORY;
        return this;
    }

    /**
     * Leaves the hold in the store when the factory is closed: it ends by release elsewhere or with its TTL.
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
     * Makes a Lock; each call makes another would-be holder.
     *
     * @return a Lock that holds nothing yet
     */
    public Lock create() {
        LockSettings settings = new LockSettings(ttl, renewal, autoRelease, List.copyOf(lossListeners));
        return new Lock(backend, Key.of(resource), settings, Ownership.Origin.MADE_HERE);
    }
}
