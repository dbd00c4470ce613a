package dev.latchkey.spring;

import dev.latchkey.Capability;
import dev.latchkey.LockFactory;
import dev.latchkey.LockMode;
import dev.latchkey.spi.Holder;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;

/** {@code /actuator/locks}: what this application works under, and who holds one resource. Shows no token. */
@Endpoint(id = "locks")
class LocksEndpoint {

    private final Acquirer acquirer;
    private final ObjectProvider<LockFactory> factory;

    LocksEndpoint(Acquirer acquirer, ObjectProvider<LockFactory> factory) {
        this.acquirer = acquirer;
        this.factory = factory;
    }

    /** What this instance holds by locked methods and templates. */
    @ReadOperation
    HeldHere held() {
        return new HeldHere(acquirer.held().stream()
                .map(LocksEndpoint::held)
                .sorted(Comparator.comparing(HeldHere.Held::resource))
                .toList());
    }

    /** Who holds a resource, in whichever process. */
    @ReadOperation
    @Nullable Holders holders(@Selector String resource) {
        LockFactory locks = factory.getObject();
        if (!locks.supports(Capability.HOLDERS)) {
            return null;
        }
        return new Holders(
                resource,
                locks.holders(resource).stream().map(LocksEndpoint::holder).toList());
    }

    private static HeldHere.Held held(HeldLock held) {
        return new HeldHere.Held(
                held.resource(),
                held.mode(),
                number(held.fencingToken()),
                held.remainingLifetime().orElse(null),
                held.isLost());
    }

    private static Holders.Hold holder(Holder holder) {
        return new Holders.Hold(
                holder.mode(),
                number(holder.fencingToken()),
                holder.remaining().orElse(null),
                holder.description().orElse(null));
    }

    private static @Nullable Long number(OptionalLong number) {
        return number.isPresent() ? number.getAsLong() : null;
    }

    /** The answer for all. */
    record HeldHere(List<HeldHere.Held> locks) {
        record Held(
                String resource,
                LockMode mode,
                @Nullable Long fencingToken,
                @Nullable Duration remaining,
                boolean lost) {}
    }

    /** The answer for one. */
    record Holders(String resource, List<Holders.Hold> holders) {
        record Hold(
                LockMode mode,
                @Nullable Long fencingToken,
                @Nullable Duration remaining,
                @Nullable String description) {}
    }
}
