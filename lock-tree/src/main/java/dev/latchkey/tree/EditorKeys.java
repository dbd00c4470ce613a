package dev.latchkey.tree;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.LocalProcess;
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
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The keys of everything that one editor holds, with the lease and the session that limit all of it. The holds depend on each
 * other, because an exclusive hold is worth nothing without the shared ones above it: if one is lost, all are.
 *
 * <p>The editor's turn is held while a hold is changed, with two exceptions. A renewal changes nothing but the end of leases,
 * and a thread that has the turn may wait for the Lock that is being renewed. Everything is released without the turn when the
 * JVM exits: that is done in the turn of the Lock, for which the editor's thread may wait while it has its own.
 */
final class EditorKeys {

    private static final Logger log = LoggerFactory.getLogger(TreeLocks.class);
    private static final Key.Held SHARED = new Key.Held(LockMode.SHARED, OptionalLong.empty());

    private final PersistingStore store;
    private final BatchRequests requests;
    private final Duration ttl;
    private final ReentrantLock turn;
    private final Executor tidier;

    /** Replaced when everything is released. */
    private volatile Map<String, Key> keys = new ConcurrentHashMap<>();

    /** What was released and the editor has not given up: it may still push what it changed there. Used inside the monitor. */
    private final Map<String, LockMode> releasedUnasked = new HashMap<>();

    /** Written inside the monitor. */
    private volatile long changes;

    /** When the request was sent that is acquiring something; empty if there is none. */
    private volatile OptionalLong acquiringSince = OptionalLong.empty();

    /** Replaced with the first of what is held. */
    private volatile Sessions sessions = new Sessions();

    private volatile Lease lease = Lease.endless();

    /** The lease that the Lock knows: of the first grant, and then of each renewal. */
    private volatile Lease watched = Lease.endless();

    /**
     * Creates the keys of an editor, which holds nothing yet.
     *
     * @param tidier asks the store for an editor whose thread is not there
     */
    EditorKeys(PersistingStore store, BatchRequests requests, Duration ttl, ReentrantLock turn, Executor tidier) {
        this.store = store;
        this.requests = requests;
        this.ttl = ttl;
        this.turn = turn;
        this.tidier = tidier;
    }

    /** Returns the keys by resource, each with its hold. Not a copy, which would cost more than most callers do with it. */
    Map<String, Key> keys() {
        return keys;
    }

    /** Returns how often the holds have changed. */
    long changes() {
        return changes;
    }

    /** Something is about to be acquired, which a renewal that is answered in the meantime does not include; in the turn. */
    void acquiringBegins() {
        acquiringSince = OptionalLong.of(System.nanoTime());
    }

    void acquiringEnds() {
        acquiringSince = OptionalLong.empty();
    }

    /** Returns a snapshot of the modes by resource. */
    Map<String, LockMode> modes() {
        Map<String, LockMode> modes = new HashMap<>();
        keys.forEach((resource, key) -> modes.put(resource, mode(key)));
        return modes;
    }

    Request request(Key key, LockMode mode) {
        return new Request(key, mode, ttl, RetryIntent.ONCE, LeaseChange.EXTEND, LocalProcess.ownerName());
    }

    /**
     * Adds what was granted; in the turn.
     *
     * @return whether nothing was held before: everything may have been released since the request, as the JVM exits
     */
    boolean add(List<Request> asked, BatchAttempt.Granted granted) {
        List<BatchItem> taken = BatchRequests.taken(asked, granted);
        boolean isFirst;
        synchronized (this) {
            isFirst = keys.isEmpty();
            if (isFirst) {
                sessions = new Sessions();
            }
            taken.forEach(item -> keys.put(item.key().resource(), item.key()));
            changes++;
        }
        lease = leaseOf(granted.grants());
        if (isFirst) {
            watched = lease;
        }
        return isFirst;
    }

    /**
     * Releases what was not held then, and demotes what was promoted since; in the turn. If the store fails, the editor
     * counts it as done nevertheless, as with every release and demotion.
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
                    held.replace(demotion.key().resource(), demotion.key().claiming(Optional.of(SHARED))));
            changes++;
        }
        return requests.release(fresh, demotions);
    }

    /** Returns a lease that ends with the first of several, and with the first session that is lost. */
    private Lease leaseOf(List<Response.Granted> grants) {
        Sessions current = sessions;
        List<Lease> leases = grants.stream().map(Response.Granted::lease).toList();
        leases.forEach(current::add);
        Lease first = EarliestLease.sooner(leases);
        return Lease.session(current.lost(), current::areLive).withTime(first.since(), first.ttl());
    }

    /**
     * The sessions that everything is bound to: hardly ever more than one.
     *
     * @param lost completes with the first of them that is lost
     * @param signals those that are listened to already: each renewal brings them again
     * @param lives whether each lives
     */
    private record Sessions(
            CompletableFuture<LossReason> lost, Set<CompletionStage<LossReason>> signals, Set<BooleanSupplier> lives) {

        Sessions() {
            this(new CompletableFuture<>(), ConcurrentHashMap.newKeySet(), ConcurrentHashMap.newKeySet());
        }

        void add(Lease lease) {
            lease.lost().filter(signals::add).ifPresent(signal -> signal.thenAccept(lost::complete));
            if (lease.isLive() != Lease.ALWAYS) {
                lives.add(lease.isLive());
            }
        }

        boolean areLive() {
            return lives.stream().allMatch(BooleanSupplier::getAsBoolean);
        }
    }

    /** The lease of what was granted last. */
    Lease lease() {
        return lease;
    }

    /** Whether the lease or the session is over that the Lock knows, so that no renewal comes any more. */
    boolean isOver() {
        Lease now = watched;
        return sessions.lost().isDone()
                || (now.since().isPresent()
                        && System.nanoTime() - now.since().getAsLong()
                                > now.ttl().toNanos());
    }

    /** Begins to renew everything that is held now. */
    EditorRenewal renewal(Request request) {
        long sent = System.nanoTime();
        long since = sent + Math.min(0, acquiringSince.orElse(sent) - sent);
        return new EditorRenewal(this, request, since, List.copyOf(keys.values()));
    }

    /**
     * Judges the answers of the store.
     *
     * @param results one for each key of the renewal, in the same order
     * @return what the renewal means for the hold as a whole
     * @throws LockStorageException if the store failed for one of the keys
     */
    Response settle(EditorRenewal renewal, List<RefreshResult> results) {
        List<Response.Granted> grants = new ArrayList<>();
        for (int i = 0; i < results.size(); i++) {
            Key key = renewal.keys().get(i);
            Key now = keys.get(key.resource());
            if (now == null || !now.equals(key)) {
                // Released in the meantime.
                continue;
            }
            Response response = answered(results.get(i));
            if (response instanceof Response.Granted granted) {
                grants.add(granted);
            } else if (now.held().equals(key.held())) {
                return response instanceof Response.Lost ? response : new Response.Lost(LossReason.TAKEN_OVER);
            } else {
                throw new LockStorageException(key.resource(), "it was demoted to shared while it was renewed", null);
            }
        }
        tidyApart();
        // What is being acquired now has a lease of its own, which starts when that request was sent, and not later.
        Lease acquired = Lease.timed(renewal.since(), renewal.request().ttl());
        watched = grants.isEmpty() ? acquired : EarliestLease.notAfter(acquired, leaseOf(grants));
        return new Response.Granted(renewal.request().mode(), OptionalLong.empty(), watched);
    }

    private static Response answered(RefreshResult outcome) {
        if (outcome instanceof RefreshResult.Failed failed) {
            throw failed.failure();
        }
        return ((RefreshResult.Answered) outcome).response();
    }

    /** Not by the thread of the renewals, for those of other editors would wait for this one's store. */
    private void tidyApart() {
        if (turn.isHeldByCurrentThread()) {
            tidy();
        } else if (!requests.isTidy()) {
            tidier.execute(this::tidy);
        }
    }

    /** Does nothing while the editor has its turn: the next renewal tries again. */
    private void tidy() {
        if (!turn.tryLock()) {
            return;
        }
        try {
            requests.tidy(store);
        } catch (RuntimeException e) {
            log.debug("lock.demotion_failed", e);
        } finally {
            turn.unlock();
        }
    }

    /** Records in the store that a change was made under everything that is held, or was when it was lost; in the turn. */
    void record(long index) {
        Map<String, LockMode> changed;
        synchronized (this) {
            changed = modes();
            releasedUnasked.forEach((resource, mode) -> changed.merge(resource, mode, EditorKeys::stronger));
        }
        Map<String, StateIndex> raised = new HashMap<>();
        changed.forEach((resource, mode) ->
                raised.put(resource, mode == LockMode.EXCLUSIVE ? new StateIndex(index, 0) : new StateIndex(0, index)));
        if (!raised.isEmpty()) {
            requests.record(raised);
        }
    }

    private static LockMode stronger(LockMode one, LockMode other) {
        return one == LockMode.EXCLUSIVE ? one : other;
    }

    static LockMode mode(Key key) {
        return key.held().map(Key.Held::mode).orElse(LockMode.EXCLUSIVE);
    }

    /**
     * Releases everything, and starts again with nothing. The Lock does so by itself when a session seems over. Returns whether
     * all of it was held until then.
     */
    boolean releaseAll() {
        Map<String, Key> all;
        synchronized (this) {
            modes().forEach((resource, mode) -> releasedUnasked.merge(resource, mode, EditorKeys::stronger));
            all = keys;
            keys = new ConcurrentHashMap<>();
            changes++;
        }
        return requests.releaseAll(List.copyOf(all.values())) == all.size();
    }

    /** The editor has given up everything: what it pushes from now on was not changed under that. */
    synchronized void forgetReleased() {
        releasedUnasked.clear();
    }

    /** Asks the store for each key: only for stores without leases. */
    boolean areHeldInStore() {
        boolean areHeld = keys.values().stream().allMatch(key -> store.find(key).isPresent());
        tidyApart();
        return areHeld;
    }
}
