package dev.latchkey.tree;

import dev.latchkey.LockBuilder;
import dev.latchkey.LockFactory;
import dev.latchkey.spi.PersistingStore;
import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor.DiscardPolicy;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/** The one {@link LockFactory} of all editors of a {@link TreeLocks}: each editor gets one Lock from it. */
final class EditorLockFactory implements AutoCloseable {

    /** Who refreshes the locks before their lease ends. */
    enum RenewalPolicy {
        BY_THE_EDITOR,
        BY_THE_FACTORY
    }

    private final String tree;
    private final PersistingStore store;
    private final Duration ttl;
    private final RenewalPolicy renewal;
    private final EditorHoldStore holdStore;
    private final LockFactory locks;
    private final AtomicLong editors = new AtomicLong();

    /** Its thread is there while there is something to tidy up. */
    private final ThreadPoolExecutor tidier = new ThreadPoolExecutor(
            1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), EditorLockFactory::tidier, new DiscardPolicy());

    EditorLockFactory(String tree, PersistingStore store, Duration ttl, RenewalPolicy renewal) {
        this.tree = tree;
        this.store = store;
        this.ttl = ttl;
        this.renewal = renewal;
        this.holdStore = new EditorHoldStore(store);
        this.locks = new LockFactory(holdStore);
        tidier.allowCoreThreadTimeOut(true);
        // An invalid TTL is an error here, and not of the first editor.
        LockBuilder unused = builder(tree);
    }

    /**
     * Creates what a new editor holds: nothing yet.
     *
     * @param requests asks the store for the editor
     * @param turn held by the editor while it changes what it holds
     */
    EditorHold create(BatchRequests requests, ReentrantLock turn) {
        // The number separates the editors for the factory, and names them in its logs. A tree's name has no such sign.
        String resource = tree + '#' + editors.incrementAndGet();
        EditorKeys keys = new EditorKeys(store, requests, ttl, turn, tidier);
        return new EditorHold(tree, resource, keys, holdStore, builder(resource).create());
    }

    private LockBuilder builder(String resource) {
        LockBuilder builder = locks.lock(resource).ttl(ttl);
        return renewal == RenewalPolicy.BY_THE_FACTORY ? builder.autoRefresh() : builder;
    }

    @Override
    public void close() {
        locks.close();
        tidier.shutdown();
    }

    private static Thread tidier(Runnable task) {
        Thread thread = new Thread(task, "latchkey-tree-tidier");
        thread.setDaemon(true);
        return thread;
    }
}
