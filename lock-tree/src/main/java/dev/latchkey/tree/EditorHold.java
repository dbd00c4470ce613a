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
import dev.latchkey.spi.Request;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An editor's {@link EditorHoldStore} with the Lock that watches over it: the Lock is acquired with the first thing held, and released
 * with the last. What changes something is called inside the turn.
 */
final class EditorHold {

    private static final Logger log = LoggerFactory.getLogger(TreeLocks.class);

    private final String tree;
    private final EditorHoldStore holdStore;
    private final LockFactory factory;
    private final Lock lock;

    EditorHold(String tree, EditorHoldStore holdStore, TreeLocks.Builder options) {
        this.tree = tree;
        this.holdStore = holdStore;
        this.factory = new LockFactory(holdStore);
        LockBuilder builder = factory.lock(tree).ttl(options.ttl());
        options.listeners().forEach(builder::onLost);
        this.lock =
                (options.renewal() == TreeLocks.Builder.Renewal.BY_ITSELF ? builder.autoRefresh() : builder).create();
    }

    /** As {@link EditorHoldStore#keys()}, also when they are lost. */
    Map<String, Key> keys() {
        return holdStore.keys();
    }

    Map<String, LockMode> modes() {
        return holdStore.modes();
    }

    /** As {@link EditorHoldStore#changes()}. */
    long changes() {
        return holdStore.changes();
    }

    void takingBegins() {
        holdStore.takingBegins();
    }

    void takingEnds() {
        holdStore.takingEnds();
    }

    Request request(Key key, LockMode mode) {
        return holdStore.request(key, mode);
    }

    void add(List<Request> requests, BatchAttempt.Granted granted) {
        boolean begins = holdStore.keys().isEmpty();
        holdStore.add(requests, granted);
        // Where all else was lost and given up meanwhile nothing begins with what is left.
        if (begins && !isLost()) {
            begin();
        }
        checkNotLost("it was lost while more was locked");
    }

    /** What nobody watches over is not kept. */
    private void begin() {
        boolean begun = false;
        try {
            begun = lock.tryAcquire();
        } finally {
            if (!begun) {
                boolean unused = holdStore.delete(lock.key());
            }
        }
        if (!begun) {
            throw new LockStorageException(
                    tree, "the store did not answer before the lease was over; what it granted was given back", null);
        }
    }

    /** Gives up what was not held then, and puts promotions back to shared. */
    void returnTo(Map<String, LockMode> then) {
        if (then.isEmpty()) {
            releaseAll();
        } else if (holdStore.returnTo(then) instanceof BatchAttempt.Lost gone) {
            throw lost("it was no longer held when a part was released", gone);
        }
    }

    void record(long index) {
        holdStore.record(index);
    }

    /** Until all is released, also when the Lock has had the store give up what was held by then. */
    boolean isLost() {
        return lock.isExpired();
    }

    void checkNotLost(String problem) {
        if (isLost()) {
            try {
                lock.refresh();
            } catch (LockLostException e) {
                throw new LockLostException(tree, problem, e.reason());
            }
        }
    }

    /** What to throw when the store has found that something is gone. */
    LockLostException lost(String problem, BatchAttempt.Lost gone) {
        // Has the Lock find out as well, which throws.
        lock.refresh();
        return new LockLostException(
                tree, problem, gone.reasons().values().iterator().next());
    }

    void refresh() {
        if (!holdStore.keys().isEmpty() || isLost()) {
            lock.refresh();
        }
    }

    void onLost(Consumer<? super LossReason> listener) {
        lock.onLost(listener);
    }

    void releaseAll() {
        try {
            lock.release();
        } finally {
            forgetLost();
        }
    }

    void close() {
        try {
            lock.close();
        } finally {
            try {
                forgetLost();
            } catch (LockStorageException e) {
                log.warn("lock.release-failed tree={}", tree, e);
            }
            factory.close();
        }
    }

    /** What was lost is not deleted by the Lock, and may be lost in part only. */
    private void forgetLost() {
        if (!holdStore.keys().isEmpty()) {
            boolean unused = holdStore.delete(lock.key());
        }
    }
}
