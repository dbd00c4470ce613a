package dev.latchkey.tree;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Attempt;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Patience;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.StateIndex;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * All that an editor holds, as one hold of one store: so that a {@link dev.latchkey.Lock} watches over it, renews it, and
 * tells its loss as it does with any other. The holds depend on each other, for an exclusive one is worth nothing without
 * the shared ones above it: when one is lost, all are.
 *
 * <p>The turn is taken for everything that asks the store, by the editor's threads and by the renewal of the Lock, but not to
 * give up all: when the JVM exits, that is done in the turn of the Lock, which an editor's thread may wait for in its own.
 */
final class Tenure implements ExpiringStore {

    private final PersistingStore store;
    private final Exchange exchange;
    private final Duration ttl;
    private final ReentrantLock turn;

    /** Replaced inside the monitor. */
    private volatile Map<String, Key> keys = Map.of();

    private CompletableFuture<LossReason> lost = new CompletableFuture<>();
    private @Nullable Lease lease;

    Tenure(PersistingStore store, Exchange exchange, Duration ttl, ReentrantLock turn) {
        this.store = store;
        this.exchange = exchange;
        this.ttl = ttl;
        this.turn = turn;
    }

    /** What is held, by resource, each key with how: a snapshot. */
    Map<String, Key> keys() {
        return keys;
    }

    /** How each is held, by resource: a snapshot. */
    Map<String, LockMode> modes() {
        Map<String, LockMode> modes = new HashMap<>();
        keys.forEach((resource, key) -> modes.put(resource, mode(key)));
        return modes;
    }

    Request request(Key key, LockMode mode) {
        return new Request(key, mode, ttl, Patience.ONCE);
    }

    /** Adds what was granted; inside the turn. */
    void add(List<Request> requests, BatchAttempt.Granted granted) {
        if (keys.isEmpty()) {
            lost = new CompletableFuture<>();
        }
        synchronized (this) {
            Map<String, Key> all = new HashMap<>(keys);
            Exchange.taken(requests, granted)
                    .forEach(taken -> all.put(taken.key().resource(), taken.key()));
            keys = Map.copyOf(all);
        }
        lease = leaseOf(granted);
    }

    /**
     * Gives up what was not held then, and puts promotions back to shared; inside the turn. If the store fails that is
     * believed all the same, as with every release and demotion.
     */
    BatchAttempt returnTo(Map<String, LockMode> then) {
        Map<String, Key> held = keys;
        Map<String, Key> left = new HashMap<>();
        List<Key> fresh = new ArrayList<>();
        List<Request> demotions = new ArrayList<>();
        held.forEach((resource, key) -> {
            LockMode before = then.get(resource);
            if (before == null) {
                fresh.add(key);
            } else if (before == mode(key)) {
                left.put(resource, key);
            } else {
                demotions.add(request(key, before));
                left.put(resource, key.holding(Optional.of(new Key.Held(before, OptionalLong.empty()))));
            }
        });
        synchronized (this) {
            // Unless all has been given up meanwhile.
            keys = keys.equals(held) ? Map.copyOf(left) : keys;
        }
        return exchange.giveBack(fresh, demotions);
    }

    /** Ends with the first of its leases, and with the first session that is lost. */
    private Lease leaseOf(BatchAttempt.Granted granted) {
        CompletableFuture<LossReason> current = lost;
        Lease first = Lease.endless();
        for (Attempt.Granted grant : granted.grants()) {
            Lease other = grant.lease();
            other.lost().ifPresent(stage -> stage.thenAccept(current::complete));
            first = endsSooner(other, first) ? other : first;
        }
        return new Lease(first.since(), first.ttl(), Optional.of(current));
    }

    private static boolean endsSooner(Lease one, Lease other) {
        if (one.since().isEmpty() || other.since().isEmpty()) {
            return one.since().isPresent();
        }
        return end(one) - end(other) < 0;
    }

    private static long end(Lease lease) {
        return lease.since().orElseThrow() + lease.ttl().toNanos();
    }

    /** What the Lock is told of a tenure that has just begun. */
    @Override
    public Attempt save(Request request) {
        return new Attempt.Granted(
                request.mode(), OptionalLong.empty(), Optional.ofNullable(lease).orElse(Lease.endless()));
    }

    /** Renews all. */
    @Override
    public Attempt refresh(Request request) {
        turn.lock();
        try {
            List<Request> renewals = new ArrayList<>();
            keys.values().forEach(key -> renewals.add(new Request(key, mode(key), request.ttl(), Patience.ONCE)));
            BatchAttempt attempt = exchange.renew(renewals);
            if (attempt instanceof BatchAttempt.Granted granted) {
                return new Attempt.Granted(request.mode(), OptionalLong.empty(), leaseOf(granted));
            }
            return attempt instanceof BatchAttempt.Lost gone
                    ? new Attempt.Lost(gone.reasons().values().iterator().next())
                    : new Attempt.Lost(LossReason.TAKEN_OVER);
        } finally {
            turn.unlock();
        }
    }

    /** Has the store remember that a change was made under all that is held; inside the turn. */
    void record(long index) {
        Map<String, StateIndex> raised = new HashMap<>();
        keys.forEach((resource, key) -> raised.put(
                resource, mode(key) == LockMode.EXCLUSIVE ? new StateIndex(index, 0) : new StateIndex(0, index)));
        if (!raised.isEmpty()) {
            exchange.record(raised);
        }
    }

    static LockMode mode(Key key) {
        return key.held().map(Key.Held::mode).orElse(LockMode.EXCLUSIVE);
    }

    /** Gives up all, and begins anew. */
    @Override
    public boolean delete(Key key) {
        Map<String, Key> all;
        synchronized (this) {
            all = keys;
            keys = Map.of();
        }
        return exchange.giveUp(List.copyOf(all.values())) == all.size();
    }

    /** Asks for each: only a store without leases is asked this way. */
    @Override
    public Optional<Attempt.Granted> find(Key key) {
        boolean isHeld = keys.values().stream().allMatch(one -> store.find(one).isPresent());
        return isHeld
                ? Optional.of(new Attempt.Granted(
                        LockMode.EXCLUSIVE,
                        OptionalLong.empty(),
                        Optional.ofNullable(lease).orElse(Lease.endless())))
                : Optional.empty();
    }

    @Override
    public <T> Optional<T> capability(Class<T> type) {
        boolean isMissing = type == ExpiringStore.class
                && store.capability(ExpiringStore.class).isEmpty();
        return isMissing ? Optional.empty() : ExpiringStore.super.capability(type);
    }
}
