package dev.latchkey.tree;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockLostException;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.Request;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Everything that one editor holds, with the Lock that watches it: the Lock is acquired with the first hold and released with
 * the last. Methods that change something are called in the editor's turn.
 */
final class EditorHold {

    private static final Logger log = LoggerFactory.getLogger(TreeLocks.class);

    private final String tree;
    private final EditorKeys keys;
    private final EditorHoldStore holdStore;
    private final Lock lock;

    /** Of the Lock. Not asked of its key: a Lock whose key was shown no longer releases what it lost. */
    private final String resource;

    EditorHold(String tree, String resource, EditorKeys keys, EditorHoldStore holdStore, Lock lock) {
        this.tree = tree;
        this.keys = keys;
        this.holdStore = holdStore;
        this.lock = lock;
        this.resource = resource;
    }

    /** As {@link EditorKeys#keys()}, also after they were lost. */
    Map<String, Key> keys() {
        return keys.keys();
    }

    Map<String, LockMode> modes() {
        return keys.modes();
    }

    /** As {@link EditorKeys#changes()}. */
    long changes() {
        return keys.changes();
    }

    void acquiringBegins() {
        keys.acquiringBegins();
    }

    void acquiringEnds() {
        keys.acquiringEnds();
    }

    Request request(Key key, LockMode mode) {
        return keys.request(key, mode);
    }

    void add(List<Request> requests, BatchAttempt.Granted granted) {
        boolean isFirst = keys.add(requests, granted);
        // If everything else was lost and released in the meantime, this is not the beginning of a hold.
        if (isFirst && !isLost()) {
            begin();
        }
        checkNotLost("it was lost while more was locked");
    }

    /** Keeps nothing that the Lock does not watch. */
    private void begin() {
        holdStore.begin(resource, keys);
        boolean begun = false;
        try {
            begun = lock.tryAcquire();
        } finally {
            if (!begun) {
                releaseLost();
            }
        }
        if (!begun) {
            throw new LockStorageException(
                    tree, "the store did not answer before the lease was over; what it granted was given back", null);
        }
    }

    /** Releases what was not held then, and demotes what was promoted since. */
    void returnTo(Map<String, LockMode> then) {
        if (then.isEmpty()) {
            releaseAll();
        } else if (keys.returnTo(then) instanceof BatchAttempt.Lost gone) {
            throw lost("it was no longer held when a part was released", gone);
        }
    }

    void record(long index) {
        keys.record(index);
    }

    /** Stays true until everything is released, even if the Lock has released in the store what was held by then. */
    boolean isLost() {
        return lock.isExpired();
    }

    void checkNotLost(String problem) {
        if (isLost()) {
            try {
                lock.refresh();
            } catch (LockLostException e) {
                throw ofTree(problem, e);
            }
        }
    }

    /** Returns the exception to throw when the store has found that something is no longer held. */
    LockLostException lost(String problem, BatchAttempt.Lost gone) {
        // The Lock finds out as well, and throws.
        refreshLock();
        return new LockLostException(
                tree, problem, gone.reasons().values().iterator().next());
    }

    void refresh() {
        if (!keys.keys().isEmpty() || isLost()) {
            refreshLock();
        }
    }

    private void refreshLock() {
        try {
            lock.refresh();
        } catch (LockLostException e) {
            throw ofTree("it could not be refreshed because it was lost", e);
        }
    }

    /** The number of the editor, which the resource of its Lock has, means nothing to the application. */
    private LockLostException ofTree(String problem, LockLostException e) {
        return new LockLostException(tree, problem, e.reason());
    }

    void onLost(Consumer<? super LossReason> listener) {
        lock.onLost(listener);
    }

    void releaseAll() {
        try {
            lock.release();
        } finally {
            releaseLost();
        }
    }

    void close() {
        try {
            lock.close();
        } catch (LockLostException e) {
            throw ofTree("it was no longer held when it was released", e);
        } finally {
            try {
                releaseLost();
            } catch (LockStorageException e) {
                log.warn("lock.release_failed tree={}", tree, e);
            }
        }
    }

    /** The Lock does not release what was lost, and it may be lost in part only. */
    private void releaseLost() {
        holdStore.end(resource);
        try {
            if (!keys.keys().isEmpty()) {
                boolean unused = keys.releaseAll();
            }
        } finally {
            keys.forgetReleased();
        }
    }
}
