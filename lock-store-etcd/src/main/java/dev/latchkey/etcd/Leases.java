package dev.latchkey.etcd;

import io.etcd.jetcd.api.LeaseGrantRequest;
import io.etcd.jetcd.api.LeaseGrantResponse;
import io.etcd.jetcd.api.LeaseGrpc;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * The leases of all holds of this store. One lease serves all holds with the same TTL in seconds that begin or are renewed
 * within a tenth of it, at least one second: then another one is asked for. No lease is ever renewed. A hold is renewed by
 * giving it a younger lease, in a transaction, because etcd before 3.4.31 and 3.5.13 confirms renewals of a lease without asking its quorum:
 * a leader that was replaced and does not know it yet renews leases that its successor lets end, and has its successor end
 * leases that were renewed there.
 */
final class Leases {

    private static final int PARTS = 10;
    private static final int ATTEMPTS = 2;

    private final Calls calls;
    private final LeaseLookup lookup;

    /** The youngest for each TTL in seconds. */
    private final Map<Long, ClassLease> youngest = new ConcurrentHashMap<>();

    /** What is asked for now, by TTL in seconds. */
    private final Map<Long, CompletableFuture<ClassLease>> granting = new ConcurrentHashMap<>();

    /** By id, until they have ended. */
    private final Map<Long, ClassLease> known = new ConcurrentHashMap<>();

    Leases(Calls calls) {
        this.calls = calls;
        this.lookup = new LeaseLookup(calls);
    }

    /** Does something with a lease, and once more with another one if the servers have lost the first. */
    <T> T use(String resource, Duration ttl, Function<ClassLease, T> action) {
        ClassLease lease = lasting(resource, ttl);
        try {
            return action.apply(lease);
        } catch (LeaseGoneException e) {
            forget(lease);
        }
        try {
            return action.apply(lasting(resource, ttl));
        } catch (LeaseGoneException e) {
            throw Failures.ofLease(resource, e);
        }
    }

    /** Returns a lease that lasts at least the TTL from now on, unless the servers are slow. */
    private ClassLease lasting(String resource, Duration ttl) {
        long seconds = ttl.plusNanos(999_999_999).toSeconds();
        ClassLease lease = youngest.get(seconds);
        // One that others have asked for may be too old already. If its own answer takes that long, the hold is
        // shorter.
        for (int i = 0; i < ATTEMPTS && (lease == null || !lease.lasts(System.nanoTime(), ttl)); i++) {
            lease = shared(resource, seconds);
        }
        return Objects.requireNonNull(lease);
    }

    /** All who need one at the same time wait for one request. */
    private ClassLease shared(String resource, long seconds) {
        CompletableFuture<ClassLease> mine = new CompletableFuture<>();
        CompletableFuture<ClassLease> first = granting.putIfAbsent(seconds, mine);
        if (first != null) {
            return joined(resource, first);
        }
        try {
            ClassLease lease = grant(resource, seconds);
            mine.complete(lease);
            return lease;
        } catch (RuntimeException | Error e) {
            mine.completeExceptionally(e);
            throw e;
        } finally {
            granting.remove(seconds, mine);
        }
    }

    /** For no longer than a request of its own might take, whatever becomes of the thread that asks. */
    private ClassLease joined(String resource, CompletableFuture<ClassLease> other) {
        try {
            return other.copy()
                    .orTimeout(calls.limit().toNanos(), TimeUnit.NANOSECONDS)
                    .join();
        } catch (CompletionException e) {
            throw Failures.ofLease(resource, Objects.requireNonNullElse(e.getCause(), e));
        }
    }

    private ClassLease grant(String resource, long seconds) {
        long sinceNanos = System.nanoTime();
        LeaseGrantResponse answer = calls.ask(
                resource,
                LeaseGrpc.getLeaseGrantMethod(),
                LeaseGrantRequest.newBuilder()
                        .setTTL(seconds + Math.max(1, seconds / PARTS))
                        .build(),
                Calls.Repeat.HARMLESS);
        ClassLease lease = new ClassLease(answer.getID(), sinceNanos, Duration.ofSeconds(answer.getTTL()));
        known.values().removeIf(old -> old.endNanos() - sinceNanos < 0);
        youngest.values().removeIf(old -> old.endNanos() - sinceNanos < 0);
        known.put(lease.id(), lease);
        youngest.put(seconds, lease);
        return lease;
    }

    /** A server does not know it any more, for instance because it has lost its data. */
    private void forget(ClassLease lease) {
        youngest.values().remove(lease);
        known.remove(lease.id());
    }

    boolean isOwn(long id) {
        return known.containsKey(id);
    }

    /** Returns a lease with its end, as exactly as it can be known, but never too late; empty if it has ended. */
    Optional<ClassLease> find(String resource, long id) {
        ClassLease own = known.get(id);
        if (own != null) {
            return Optional.of(own);
        }
        return lookup.find(resource, id);
    }
}
