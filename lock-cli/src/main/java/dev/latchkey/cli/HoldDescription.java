package dev.latchkey.cli;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.console.Json;
import java.time.Duration;
import java.util.OptionalLong;

/** Describes a hold, for scripts. */
final class HoldDescription {

    private HoldDescription() {}

    static Json of(Json json, Lock lock) {
        return json.put(
                        "mode",
                        lock.key()
                                .held()
                                .map(held -> HolderReport.name(held.mode()))
                                .orElse(null))
                .put(
                        "fencingToken",
                        lock.key().held().map(Key.Held::fencingToken).orElse(OptionalLong.empty()))
                .put(
                        "remainingMs",
                        lock.remainingLifetime().map(Duration::toMillis).orElse(null));
    }
}
