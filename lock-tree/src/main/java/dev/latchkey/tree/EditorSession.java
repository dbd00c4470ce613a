package dev.latchkey.tree;

import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.StateIndex;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Runs the calls of one editor, one at a time. The turn is held during a request to the store, but not during a wait for other
 * editors.
 */
final class EditorSession implements TreeEditor {

    private static final Duration LONGEST_WAIT = Duration.ofDays(36_500);

    private static final String NOTHING_MORE = "call releaseAll() before you lock anything again";

    private final TreeResources ids;
    private final EditorHold editorHold;
    private final EditorRights rights;
    private final BatchAcquirer acquirer;
    private final Savepoints savepoints;
    private final ReentrantLock turn = new ReentrantLock();
    private final Condition changed = turn.newCondition();
    private volatile long known;
    private volatile boolean closed;

    EditorSession(String tree, Ancestors.Tree view, BatchRequests requests, EditorLockFactory locks) {
        this.ids = new TreeResources(tree);
        this.editorHold = locks.create(requests, turn);
        this.rights = new EditorRights(ids, view, editorHold);
        this.acquirer = new BatchAcquirer(ids, requests, editorHold);
        this.savepoints = new Savepoints(tree);
    }

    @Override
    public void acquire(TreeRequest request) {
        if (tryOnce(request).orElseThrow(this::closedFailure) instanceof BatchAttempt.Conflicted conflict) {
            throw ids.conflict(modes(request), conflict);
        }
    }

    @Override
    public void acquire(TreeRequest request, Duration maxWait) throws InterruptedException {
        if (maxWait.isNegative()) {
            throw new IllegalArgumentException("a max wait of " + maxWait + " is negative: zero tries once");
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        long end = System.nanoTime() + (maxWait.compareTo(LONGEST_WAIT) > 0 ? LONGEST_WAIT : maxWait).toNanos();
        RetryDelays pauses = new RetryDelays();
        BatchAttempt attempt = tryOnce(request).orElseThrow(this::closedFailure);
        while (attempt instanceof BatchAttempt.Conflicted conflict) {
            long left = end - System.nanoTime();
            if (left <= 0 || isClosedAfter(Math.min(left, pauses.nextNanos(conflict.retryAfter())))) {
                throw ids.conflict(modes(request), conflict);
            }
            attempt = tryOnce(request).orElse(conflict);
        }
    }

    private boolean isClosedAfter(long nanos) throws InterruptedException {
        turn.lockInterruptibly();
        try {
            long left = nanos;
            while (!closed && left > 0) {
                left = changed.awaitNanos(left);
            }
            return closed;
        } finally {
            turn.unlock();
        }
    }

    /** Leaves out what is shared, which is the default for ancestors as well. */
    private static Map<String, LockMode> modes(TreeRequest request) {
        return request.exclusive().stream().collect(Collectors.toMap(id -> id, id -> LockMode.EXCLUSIVE));
    }

    /**
     * Calls the application's parents function outside of the turn, because it may take long, and again if the holds have
     * changed in the meantime. The editor's index is read before, because the parents are those of the tree as the editor
     * knows it. Returns empty if this session is closed.
     */
    private Optional<BatchAttempt> tryOnce(TreeRequest request) {
        while (!closed) {
            editorHold.checkNotLost(NOTHING_MORE);
            long knew = known;
            long seen = editorHold.changes();
            Map<String, LockMode> missing = rights.missing(request);
            turn.lock();
            try {
                if (closed) {
                    return Optional.empty();
                }
                editorHold.checkNotLost(NOTHING_MORE);
                if (editorHold.changes() == seen) {
                    return Optional.of(acquirer.acquire(missing, knew));
                }
            } finally {
                turn.unlock();
            }
        }
        return Optional.empty();
    }

    @Override
    public TreeSavepoint savepoint() {
        turn.lock();
        try {
            checkReady("call releaseAll() before you set a savepoint");
            return savepoints.begin(editorHold.modes());
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
                editorHold.returnTo(savepoints.rollBack(savepoint, editorHold.modes()));
            }
        } finally {
            turn.unlock();
        }
    }

    @Override
    public void reinstate(TreeSavepoint savepoint) {
        boolean done = false;
        while (!done) {
            long knew = known;
            long seen = editorHold.changes();
            Map<String, LockMode> wanted = undone(savepoint);
            // The tree may have changed since their ancestors were released.
            Map<String, LockMode> ancestors = rights.ancestors(wanted);
            turn.lock();
            try {
                checkReady(NOTHING_MORE);
                done = editorHold.changes() == seen;
                if (done && savepoints.isUndone(savepoint)) {
                    acquireAgain(savepoint, wanted, ancestors, knew);
                }
            } finally {
                turn.unlock();
            }
        }
    }

    /** Returns what belongs to a rolled-back savepoint and is not held, by id; nothing if it is not rolled back. */
    private Map<String, LockMode> undone(TreeSavepoint savepoint) {
        turn.lock();
        try {
            checkReady(NOTHING_MORE);
            Map<String, LockMode> wanted = new TreeMap<>();
            if (savepoints.isUndone(savepoint)) {
                savepoints
                        .missing(savepoint, editorHold.modes())
                        .forEach((resource, mode) -> wanted.put(ids.id(resource), mode));
            }
            return wanted;
        } finally {
            turn.unlock();
        }
    }

    private void acquireAgain(
            TreeSavepoint savepoint, Map<String, LockMode> wanted, Map<String, LockMode> ancestors, long knew) {
        Map<String, LockMode> held = editorHold.modes();
        Map<String, LockMode> all = new TreeMap<>(wanted);
        all.putAll(ancestors);
        if (acquirer.acquire(all, knew) instanceof BatchAttempt.Conflicted conflict) {
            throw ids.conflict(all, conflict);
        }
        Map<String, LockMode> alsoAcquired = new TreeMap<>();
        ancestors.forEach((id, mode) -> alsoAcquired.put(ids.resource(id), mode));
        savepoints.reinstate(savepoint, held, alsoAcquired);
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
            editorHold.record(index);
            if (index == known + 1) {
                // Otherwise there may be changes in between that this editor has not pulled.
                known = index;
            }
            savepoints.end();
            editorHold.checkNotLost("it was lost before its changes were pushed");
        } finally {
            turn.unlock();
        }
    }

    @Override
    public void releaseAll() {
        turn.lock();
        try {
            savepoints.end();
            editorHold.releaseAll();
        } finally {
            turn.unlock();
        }
    }

    @Override
    public void refresh() {
        turn.lock();
        try {
            editorHold.refresh();
        } finally {
            turn.unlock();
        }
    }

    @Override
    public void onLost(Consumer<? super LossReason> listener) {
        editorHold.onLost(listener);
    }

    @Override
    public void close() {
        turn.lock();
        try {
            closed = true;
            changed.signalAll();
            editorHold.close();
        } finally {
            turn.unlock();
        }
    }

    private void checkReady(String problemIfLost) {
        if (closed) {
            throw closedFailure();
        }
        editorHold.checkNotLost(problemIfLost);
    }

    private IllegalStateException closedFailure() {
        return new IllegalStateException("tree \"" + ids.tree() + "\": this editor was closed: create a new one");
    }
}
