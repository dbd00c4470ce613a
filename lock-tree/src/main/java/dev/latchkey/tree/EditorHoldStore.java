package dev.latchkey.tree;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import dev.latchkey.spi.StateIndex;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All that an editor holds, as one hold of one store: so that a {@link dev.latchkey.Lock} watches over it, renews it, and
 * tells its loss as it does with any other. The holds depend on each other, for an exclusive one is worth nothing without
 * the shared ones above it: when one is lost, all are.
 *
 * <p>What changes a hold is asked in the editor's turn. A renewal is not: it changes nothing but the end of leases, and the
 * Lock whose renewal it is may be waited for by who has the turn. To give up all takes no turn either: when the JVM exits, that
 * is done in the turn of the Lock, which an editor's thread may wait for in its own.
 */
final class EditorHoldStore implements ExpiringStore {

    private static final Logger log = LoggerFactory.getLogger(TreeLocks.class);
    private static final Key.Held SHARED = new Key.Held(LockMode.SHARED, OptionalLong.empty());

    private final PersistingStore store;
    private final BatchRequests exchange;
    private final Duration ttl;
    private final ReentrantLock turn;

    /** Replaced when all is given up. */
    private volatile Map<String, Key> keys = new ConcurrentHashMap<>();

    /** Written inside the monitor. */
    private volatile long changes;

    /** When a request that takes something was sent; empty: none is under way. */
    private volatile OptionalLong takingSince = OptionalLong.empty();

    private CompletableFuture<LossReason> lost = new CompletableFuture<>();

    /** What tells whether the sessions live that all is held with: hardly ever more than one. */
    private Set<BooleanSupplier> sessions = ConcurrentHashMap.newKeySet();

    private @Nullable Lease lease;

    EditorHoldStore(PersistingStore store, BatchRequests exchange, Duration ttl, ReentrantLock turn) {
        this.store = store;
        this.exchange = exchange;
        this.ttl = ttl;
        this.turn = turn;
    }

    /** What is held, by resource, each key with how. Not a copy, for that of all would cost more than what is done with it. */
    Map<String, Key> keys() {
        return keys;
    }

    /** How often what is held has changed. */
    long changes() {
        return changes;
    }

    /** Something is about to be taken, of which a renewal that is answered meanwhile knows nothing; inside the turn. */
    void takingBegins() {
        takingSince = OptionalLong.of(System.nanoTime());
    }

    void takingEnds() {
        takingSince = OptionalLong.empty();
    }

    /** How each is held, by resource: a snapshot. */
    Map<String, LockMode> modes() {
        Map<String, LockMode> modes = new HashMap<>();
        keys.forEach((resource, key) -> modes.put(resource, mode(key)));
        return modes;
    }

    Request request(Key key, LockMode mode) {
        return new Request(key, mode, ttl, RetryIntent.ONCE);
    }

    /** Adds what was granted; inside the turn. */
    void add(List<Request> requests, BatchAttempt.Granted granted) {
        if (keys.isEmpty()) {
            lost = new CompletableFuture<>();
            sessions = ConcurrentHashMap.newKeySet();
        }
        synchronized (this) {
            BatchRequests.taken(requests, granted)
                    .forEach(taken -> keys.put(taken.key().resource(), taken.key()));
            changes++;
        }
        lease = leaseOf(granted.grants());
    }

    /**
     * Gives up what was not held then, and puts promotions back to shared; inside the turn. If the store fails that is
     * believed all the same, as with every release and demotion.
     */
    BatchAttempt returnTo(Map<String, LockMode> then) {
        Map<String, Key> held = keys;
        List<Key> fresh = new ArrayList<>();
        List<Request> demotions = new ArrayList<>();
        held.forEach((resource, key) -> {
            LockMode before = then.get(resource);
            if (before == null) {
                fresh.add(key);
            } else if (before != mode(key)) {
                demotions.add(request(key, before));
            }
        });
        synchronized (this) {
            fresh.forEach(key -> held.remove(key.resource()));
            demotions.forEach(demotion ->
                    held.replace(demotion.key().resource(), demotion.key().holding(Optional.of(SHARED))));
            changes++;
        }
        return exchange.giveBack(fresh, demotions);
    }

    /** Ends with the first of its leases, and with the first session that is lost. */
    private Lease leaseOf(List<Response.Granted> grants) {
        CompletableFuture<LossReason> current = lost;
        Set<BooleanSupplier> all = sessions;
        grants.forEach(grant -> grant.lease().lost().ifPresent(stage -> stage.thenAccept(current::complete)));
        Lease first = EarliestLease.sooner(
                grants.stream().map(Response.Granted::lease).toList());
        grants.stream()
                .map(grant -> grant.lease().isLive())
                .filter(isLive -> isLive != Lease.ALWAYS)
                .forEach(all::add);
        return Lease.session(current, () -> all.stream().allMatch(BooleanSupplier::getAsBoolean))
                .withTime(first.since(), first.ttl());
    }

    /** What the Lock is told of a holdStore that has just begun. */
    @Override
    public Response save(Request request) {
        return new Response.Granted(
                request.mode(), OptionalLong.empty(), Optional.ofNullable(lease).orElse(Lease.endless()));
    }

    /** Renews all. */
    @Override
    public Response refresh(Request request) {
        return refresh(request, ExpiringStore::refreshAll);
    }

    @Override
    public List<RefreshResult> refreshAll(List<Request> requests, Duration within) {
        return requests.stream()
                .map(request -> RefreshResult.of(() -> refresh(request, (holds, all) -> holds.refreshAll(all, within))))
                .toList();
    }

    private Response refresh(Request request, BiFunction<ExpiringStore, List<Request>, List<RefreshResult>> asking) {
        long sent = System.nanoTime();
        long since = sent + Math.min(0, takingSince.orElse(sent) - sent);
        List<Key> asked = List.copyOf(keys.values());
        List<RefreshResult> outcomes = asking.apply(
                store.capability(ExpiringStore.class).orElseThrow(),
                asked.stream()
                        .map(key -> new Request(key, mode(key), request.ttl(), RetryIntent.ONCE, request.leaseChange()))
                        .toList());
        List<Response.Granted> grants = new ArrayList<>();
        for (int i = 0; i < asked.size(); i++) {
            Key key = asked.get(i);
            Key now = keys.get(key.resource());
            if (now == null || !now.equals(key)) {
                // Given up meanwhile.
                continue;
            }
            Response response = answered(outcomes.get(i));
            if (response instanceof Response.Granted granted) {
                grants.add(granted);
            } else if (now.held().equals(key.held())) {
                return response instanceof Response.Lost ? response : new Response.Lost(LossReason.TAKEN_OVER);
            } else {
                throw new LockStorageException(key.resource(), "it was demoted to shared while it was renewed", null);
            }
        }
        tidy();
        // What is just being taken ends by a lease of its own, which began when that was sent, and not later.
        Lease taken = Lease.timed(since, request.ttl());
        return new Response.Granted(
                request.mode(),
                OptionalLong.empty(),
                grants.isEmpty() ? taken : EarliestLease.notAfter(taken, leaseOf(grants)));
    }

    private static Response answered(RefreshResult outcome) {
        if (outcome instanceof RefreshResult.Failed failed) {
            throw failed.failure();
        }
        return ((RefreshResult.Answered) outcome).response();
    }

    /** Not while the editor does something: the next renewal comes. */
    private void tidy() {
        if (!turn.tryLock()) {
            return;
        }
        try {
            exchange.tidy(store);
        } catch (LockStorageException e) {
            log.debug("lock.not-shared-again", e);
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
            keys = new ConcurrentHashMap<>();
            changes++;
        }
        return exchange.giveUp(List.copyOf(all.values())) == all.size();
    }

    /** Asks for each: only a store without leases is asked this way. */
    @Override
    public Optional<Response.Granted> find(Key key) {
        boolean isHeld = keys.values().stream().allMatch(one -> store.find(one).isPresent());
        tidy();
        return isHeld
                ? Optional.of(new Response.Granted(
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
