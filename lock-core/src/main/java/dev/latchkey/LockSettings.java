package dev.latchkey;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/** What a Lock was made with. */
record LockSettings(
        Duration ttl, Renewal renewal, AutoRelease autoRelease, List<Consumer<? super LossReason>> lossListeners) {

    /** Who refreshes a lease before it runs out. */
    enum Renewal {
        BY_THE_HOLDER,
        BY_THE_FACTORY
    }

    /** What becomes of a hold when the factory is closed. */
    enum AutoRelease {
        ON,
        OFF
    }

    static LockSettings plain(Duration ttl) {
        return new LockSettings(ttl, Renewal.BY_THE_HOLDER, AutoRelease.ON, List.of());
    }
}
