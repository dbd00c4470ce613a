package dev.latchkey.redis;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Response;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The exclusive holds that this store has answered for, and what tells their Locks that somebody has ended one by force. All Locks
 * with the same hold are told.
 *
 * <p>Thread-safe. Threads of the driver call {@link #message}, which must not wait.
 */
final class ForcedReleases {

    private static final int SWEEP_FROM = 1_024;

    /** A hold: no other has the same fencing token of the same resource. */
    private record Id(String resource, long fence) {}

    private static final class Watched {

        private final Key key;
        private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
        private final long sinceNanos = System.nanoTime();
        private volatile long endNanos;

        Watched(Key key, long endNanos) {
            this.key = key;
            this.endNanos = endNanos;
        }

        /** Another Lock of the key may renew with a shorter TTL, which ends no lease sooner. */
        Watched lastingUntil(long nanos) {
            if (nanos - endNanos > 0) {
                endNanos = nanos;
            }
            return this;
        }

        boolean isOver(long now) {
            return endNanos - now <= 0;
        }
    }

    private final KeyNames names;
    private final ConcurrentMap<Id, Watched> watched = new ConcurrentHashMap<>();
    private final AtomicInteger sweepAt = new AtomicInteger(SWEEP_FROM);

    ForcedReleases(KeyNames names) {
        this.names = names;
    }

    /** Returns the same answer to a request of a key, and watches the hold from now on if it is one. */
    Response watch(Key key, Response response) {
        if (response instanceof Response.Granted granted) {
            return watch(key, granted);
        }
        if (response instanceof Response.Lost lost && lost.reason() == LossReason.FORCED) {
            happened(key);
        }
        return response;
    }

    Response.Granted watch(Key key, Response.Granted granted) {
        OptionalLong fence = granted.fencingToken();
        if (fence.isEmpty()) {
            // It may have been demoted.
            released(key);
            return granted;
        }
        Lease lease = granted.lease();
        long end = lease.since().orElse(System.nanoTime()) + lease.ttl().toNanos();
        Watched hold = watched.compute(
                new Id(key.resource(), fence.getAsLong()),
                (id, known) -> known == null ? new Watched(key, end) : known.lastingUntil(end));
        sweepIfGrown();
        return new Response.Granted(
                granted.mode(), fence, new Lease(lease.since(), lease.ttl(), Optional.of(hold.lost), lease.isLive()));
    }

    /** What a key claims is released. */
    void released(Key key) {
        Optional<Watched> unused = claimed(key).map(watched::remove);
    }

    /** The server has answered that what a key claims was ended by force. */
    void happened(Key key) {
        claimed(key).ifPresent(this::happened);
    }

    /** Handles {@code <fencing token> <key of the state>}. */
    void message(String fence, String stateKey) {
        Optional<String> resource = names.resource(stateKey.getBytes(StandardCharsets.UTF_8));
        try {
            long number = Long.parseLong(fence);
            resource.ifPresent(name -> happened(new Id(name, number)));
        } catch (NumberFormatException e) {
            // Nothing of ours.
        }
    }

    private void happened(Id id) {
        Watched hold = watched.get(id);
        if (hold != null) {
            // First: who finds nothing here may rely on it that the Locks have been told.
            hold.lost.complete(LossReason.FORCED);
            watched.remove(id, hold);
        }
    }

    private static Optional<Id> claimed(Key key) {
        return key.held()
                .flatMap(held -> held.fencingToken().isPresent()
                        ? Optional.of(new Id(key.resource(), held.fencingToken().getAsLong()))
                        : Optional.empty());
    }

    /** Whether anything is held; forgets what is over. */
    boolean isAnyHeld() {
        long now = System.nanoTime();
        // One after the other: what is renewed at this moment stays.
        watched.keySet().forEach(id -> watched.computeIfPresent(id, (same, hold) -> hold.isOver(now) ? null : hold));
        return !watched.isEmpty();
    }

    boolean isAnyHeldFor(long nanos) {
        long now = System.nanoTime();
        return watched.values().stream().anyMatch(hold -> !hold.isOver(now) && now - hold.sinceNanos >= nanos);
    }

    /** Returns the keys of what is held, each with what it claims. */
    List<Key> held() {
        return watched.entrySet().stream()
                .map(entry -> entry.getValue()
                        .key
                        .claiming(Optional.of(new Key.Held(
                                LockMode.EXCLUSIVE,
                                OptionalLong.of(entry.getKey().fence())))))
                .toList();
    }

    /** Leases that run out without a release must not fill the memory: each time these have doubled, they go. */
    private void sweepIfGrown() {
        int limit = sweepAt.get();
        if (watched.size() >= limit && sweepAt.compareAndSet(limit, Integer.MAX_VALUE)) {
            boolean unused = isAnyHeld();
            sweepAt.set(Math.max(SWEEP_FROM, 2 * watched.size()));
        }
    }
}
