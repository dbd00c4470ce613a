package dev.latchkey.tree;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockBuilder;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.StateIndex;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One editor's locks: plans by the {@link Ancestry}, asks by the {@link Exchange}, keeps in the {@link Tenure}, over which a
 * Lock watches. The turn is held while the store is asked, and not while waiting.
 */
final class EditorLocks implements TreeLocks {

    private static final Logger log = LoggerFactory.getLogger(TreeLocks.class);

    private static final Duration LONGEST_WAIT = Duration.ofDays(36_500);

    private final String tree;
    private final Ids ids;
    private final Function<String, ? extends Collection<String>> parents;
    private final Exchange exchange;
    private final Tenure tenure;
    private final LockFactory factory;
    private final Lock lock;
    private final ReentrantLock turn = new ReentrantLock();
    private final Condition changed = turn.newCondition();
    private volatile long known;
    private boolean closed;

    EditorLocks(
            String tree,
            Function<String, ? extends Collection<String>> parents,
            PersistingStore store,
            Exchange exchange,
            Builder options) {
        this.tree = tree;
        this.ids = new Ids(tree);
        this.parents = parents;
        this.exchange = exchange;
        this.tenure = new Tenure(store, exchange, options.ttl(), turn);
        this.factory = new LockFactory(tenure);
        LockBuilder builder = factory.lock(tree).ttl(options.ttl());
        options.listeners().forEach(builder::onLost);
        this.lock = (options.renewal() == Builder.Renewal.BY_ITSELF ? builder.autoRefresh() : builder).create();
    }

    @Override
    public void acquire(TreeRequest request) {
        turn.lock();
        try {
            BatchAttempt attempt = tryOnce(request);
            if (attempt instanceof BatchAttempt.Conflicted conflict) {
                throw ids.conflict(request, conflict);
            }
        } finally {
            turn.unlock();
        }
    }

    @Override
    public void acquire(TreeRequest request, Duration maxWait) throws InterruptedException {
        if (maxWait.isNegative()) {
            throw new IllegalArgumentException("a max wait of " + maxWait + " is negative: zero tries once");
        }
        long end = System.nanoTime() + (maxWait.compareTo(LONGEST_WAIT) > 0 ? LONGEST_WAIT : maxWait).toNanos();
        Pauses pauses = new Pauses();
        turn.lockInterruptibly();
        try {
            while (tryOnce(request) instanceof BatchAttempt.Conflicted conflict) {
                long left = end - System.nanoTime();
                if (left <= 0) {
                    throw ids.conflict(request, conflict);
                }
                long unused = changed.awaitNanos(Math.min(left, pauses.nextNanos(conflict.retryAfter())));
                if (closed) {
                    throw ids.conflict(request, conflict);
                }
            }
        } finally {
            turn.unlock();
        }
    }

    /** Takes what is missing. A refusal but a conflict is thrown. */
    private BatchAttempt tryOnce(TreeRequest request) {
        checkOpen();
        checkNotLost("nothing more is locked until releaseAll() was called");
        List<Request> requests = requests(ancestry(tenure.keys()).missing(request));
        if (requests.isEmpty()) {
            return new BatchAttempt.Granted(List.of());
        }
        BatchAttempt attempt = exchange.take(requests, known);
        if (attempt instanceof BatchAttempt.Granted granted) {
            adopt(requests, granted);
        } else if (attempt instanceof BatchAttempt.Stale stale) {
            throw ids.pullRequired(known, stale);
        } else if (attempt instanceof BatchAttempt.Lost gone) {
            // Has the Lock find out as well, which throws.
            lock.refresh();
            throw lost(
                    "it was no longer held when more was locked",
                    gone.reasons().values().iterator().next());
        }
        return attempt;
    }

    private void adopt(List<Request> requests, BatchAttempt.Granted granted) {
        boolean begins = tenure.keys().isEmpty();
        tenure.add(requests, granted);
        if (begins && !lock.tryAcquire()) {
            throw new IllegalStateException("the lock of a tenure is busy");
        }
        checkNotLost("it was lost while more was locked");
    }

    private List<Request> requests(Map<String, LockMode> missing) {
        Map<String, Key> held = tenure.keys();
        List<Request> requests = new ArrayList<>();
        missing.forEach((id, mode) -> {
            Key own = held.get(ids.resource(id));
            requests.add(tenure.request(own == null ? Key.of(ids.resource(id)) : own, mode));
        });
        return requests;
    }

    @Override
    public boolean holdsExclusive(String id) {
        return ancestry(tenure.keys()).holdsExclusive(id) && !isLost();
    }

    @Override
    public boolean holdsShared(String id) {
        return ancestry(tenure.keys()).holdsShared(id) && !isLost();
    }

    @Override
    public void checkExclusive(String id) {
        boolean holds = ancestry(tenure.keys()).holdsExclusive(id);
        checkNotLost(Shown.id(id) + " may not be changed");
        if (!holds) {
            throw new IllegalStateException("tree \"" + tree + "\": no exclusive lock is held on " + Shown.id(id)
                    + " or what it belongs to: acquire one before changing it");
        }
    }

    @Override
    public void checkShared(String id) {
        boolean holds = ancestry(tenure.keys()).holdsShared(id);
        checkNotLost("nothing may be added below " + Shown.id(id));
        if (!holds) {
            throw new IllegalStateException("tree \"" + tree + "\": no shared lock is held on " + Shown.id(id)
                    + ": acquire one before adding something below it");
        }
    }

    @Override
    public Map<String, LockMode> held() {
        Map<String, LockMode> held = new TreeMap<>();
        tenure.keys().forEach((resource, key) -> held.put(ids.id(resource), Tenure.mode(key)));
        return isLost() ? Map.of() : held;
    }

    @Override
    public void pulled(long index) {
        known = new StateIndex(index, 0).exclusive();
    }

    @Override
    public void pushed(long index) {
        turn.lock();
        try {
            pushedRetaining(index);
            releaseAll();
        } finally {
            turn.unlock();
        }
    }

    @Override
    public void pushedRetaining(long index) {
        turn.lock();
        try {
            if (index < Math.max(1, known)) {
                throw new IllegalArgumentException("index " + index + " of a pushed change: must be greater than zero,"
                        + " and not less than what this editor knows, " + known);
            }
            tenure.record(index);
            known = index;
            checkNotLost("it was lost before its changes were pushed");
        } finally {
            turn.unlock();
        }
    }

    @Override
    public void releaseAll() {
        turn.lock();
        try {
            lock.release();
        } finally {
            forgetLost();
            turn.unlock();
        }
    }

    /** What was lost is not deleted by the Lock, and may be lost in part only. */
    private void forgetLost() {
        if (!tenure.keys().isEmpty()) {
            boolean unused = tenure.delete(lock.key());
        }
    }

    @Override
    public void refresh() {
        if (!tenure.keys().isEmpty()) {
            lock.refresh();
        }
    }

    @Override
    public void onLost(Consumer<? super LossReason> listener) {
        lock.onLost(listener);
    }

    @Override
    public void close() {
        turn.lock();
        try {
            closed = true;
            changed.signalAll();
            lock.close();
        } finally {
            forgetLostQuietly();
            factory.close();
            turn.unlock();
        }
    }

    private void forgetLostQuietly() {
        try {
            forgetLost();
        } catch (LockStorageException e) {
            log.warn("lock.release-failed tree={}", tree, e);
        }
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("tree \"" + tree + "\": these locks were closed: make new ones");
        }
    }

    private boolean isLost() {
        return !tenure.keys().isEmpty() && lock.isExpired();
    }

    private void checkNotLost(String problem) {
        if (isLost()) {
            try {
                lock.refresh();
            } catch (LockLostException e) {
                throw lost(problem, e.reason());
            }
        }
    }

    private LockLostException lost(String problem, LossReason reason) {
        return new LockLostException(tree, problem, reason);
    }

    private Ancestry ancestry(Map<String, Key> keys) {
        return new Ancestry(
                parents, id -> Optional.ofNullable(keys.get(ids.resource(id))).map(Tenure::mode));
    }
}
