package dev.latchkey.tree;

import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.StateIndex;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * One editor's locks: what each call does, one at a time. The turn is held while the store is asked, and not while waiting
 * for other editors.
 */
final class EditorLocks implements TreeLocks {

    private static final Duration LONGEST_WAIT = Duration.ofDays(36_500);

    private final Ids ids;
    private final Custody custody;
    private final Rights rights;
    private final Taking taking;
    private final Savepoints savepoints;
    private final ReentrantLock turn = new ReentrantLock();
    private final Condition changed = turn.newCondition();
    private volatile long known;
    private boolean closed;

    EditorLocks(String tree, Ancestry.Tree parents, PersistingStore store, Exchange exchange, Builder options) {
        this.ids = new Ids(tree);
        this.custody = new Custody(tree, new Tenure(store, exchange, options.ttl(), turn), options);
        this.rights = new Rights(ids, parents, custody);
        this.taking = new Taking(ids, exchange, custody);
        this.savepoints = new Savepoints(tree);
    }

    @Override
    public void acquire(TreeRequest request) {
        turn.lock();
        try {
            BatchAttempt attempt = tryOnce(request);
            if (attempt instanceof BatchAttempt.Conflicted conflict) {
                throw ids.conflict(modes(request), conflict);
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
                    throw ids.conflict(modes(request), conflict);
                }
                long unused = changed.awaitNanos(Math.min(left, pauses.nextNanos(conflict.retryAfter())));
                if (closed) {
                    throw ids.conflict(modes(request), conflict);
                }
            }
        } finally {
            turn.unlock();
        }
    }

    /** Ancestors, which are not named, are shared. */
    private static Map<String, LockMode> modes(TreeRequest request) {
        return request.exclusive().stream().collect(Collectors.toMap(id -> id, id -> LockMode.EXCLUSIVE));
    }

    private BatchAttempt tryOnce(TreeRequest request) {
        checkReady("nothing more is locked until releaseAll() was called");
        return taking.take(rights.missing(request), known);
    }

    @Override
    public TreeSavepoint savepoint() {
        turn.lock();
        try {
            checkReady("no savepoint is set until releaseAll() was called");
            return savepoints.begin(custody.modes());
        } finally {
            turn.unlock();
        }
    }

    @Override
    public void rollback(TreeSavepoint savepoint) {
        turn.lock();
        try {
            checkReady("what was locked since " + savepoint + " is lost with everything else");
            if (!savepoints.isUndone(savepoint)) {
                custody.returnTo(savepoints.rollBack(savepoint, custody.modes()));
            }
        } finally {
            turn.unlock();
        }
    }

    @Override
    public void reinstate(TreeSavepoint savepoint) {
        turn.lock();
        try {
            checkReady("nothing more is locked until releaseAll() was called");
            if (savepoints.isUndone(savepoint)) {
                Map<String, LockMode> held = custody.modes();
                Map<String, LockMode> missing = new TreeMap<>();
                savepoints.missing(savepoint, held).forEach((resource, mode) -> missing.put(ids.id(resource), mode));
                if (taking.take(missing, known) instanceof BatchAttempt.Conflicted conflict) {
                    throw ids.conflict(missing, conflict);
                }
                savepoints.reinstate(savepoint, held);
            }
        } finally {
            turn.unlock();
        }
    }

    @Override
    public boolean holdsExclusive(String id) {
        return rights.holdsExclusive(id);
    }

    @Override
    public boolean holdsShared(String id) {
        return rights.holdsShared(id);
    }

    @Override
    public void checkExclusive(String id) {
        rights.checkExclusive(id);
    }

    @Override
    public void checkShared(String id) {
        rights.checkShared(id);
    }

    @Override
    public Map<String, LockMode> held() {
        return rights.held();
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
            custody.record(index);
            known = index;
            savepoints.end();
            custody.checkNotLost("it was lost before its changes were pushed");
        } finally {
            turn.unlock();
        }
    }

    @Override
    public void releaseAll() {
        turn.lock();
        try {
            savepoints.end();
            custody.releaseAll();
        } finally {
            turn.unlock();
        }
    }

    @Override
    public void refresh() {
        custody.refresh();
    }

    @Override
    public void onLost(Consumer<? super LossReason> listener) {
        custody.onLost(listener);
    }

    @Override
    public void close() {
        turn.lock();
        try {
            closed = true;
            changed.signalAll();
            custody.close();
        } finally {
            turn.unlock();
        }
    }

    private void checkReady(String problemIfLost) {
        if (closed) {
            throw new IllegalStateException("tree \"" + ids.tree() + "\": these locks were closed: make new ones");
        }
        custody.checkNotLost(problemIfLost);
    }
}
