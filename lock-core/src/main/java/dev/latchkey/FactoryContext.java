package dev.latchkey;

import dev.latchkey.events.LockEvents;
import dev.latchkey.spi.BlockingStore;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.LocalProcess;
import dev.latchkey.spi.PermitStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.ProcessBound;
import dev.latchkey.spi.RecallableStore;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.sticky.StickyStore;
import dev.latchkey.threads.DaemonThreads;
import dev.latchkey.threads.FactoryThreads;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What all locks of one factory share: the store with its capabilities, asked for once, the gate and the threads. */
final class FactoryContext {

    private static final Logger log = LoggerFactory.getLogger("dev.latchkey.LockFactory");

    /** How late listeners may hear of the end of a hold. */
    private static final Duration LOOK = Duration.ofSeconds(1);

    private final PersistingStore store;
    private final Optional<ExpiringStore> expiring;
    private final Optional<BlockingStore> blocking;
    private final boolean shares;
    private final boolean keepsPermits;
    private final @Nullable String processBound;
    private final AcquireLoop acquireLoop;
    private final FactoryThreads threads;
    private final String owner;
    private final LockEvents events;
    private final RenewalScheduler renewalScheduler;
    private final ActiveLocks active;
    private final List<FactoryContext> derived = new CopyOnWriteArrayList<>();

    /** The context of sticky locks; null until there is one. */
    private volatile @Nullable StickyLocks sticky;

    /** The store that keeps what sticky locks release, and the context of the locks over it. */
    private record StickyLocks(StickyStore store, FactoryContext context) {}

    private final AtomicBoolean closed;

    /** Where Locks of the same resources wait for one another. */
    private final LocalWaitQueue multiLockQueue;

    /** The turn to close, which lasts until all is released. */
    private final ReentrantLock closing = new ReentrantLock();

    private final AtomicBoolean fallbackTold = new AtomicBoolean();
    private final AtomicBoolean willLook = new AtomicBoolean();

    FactoryContext(PersistingStore store) {
        this(store, new FactoryThreads());
    }

    FactoryContext(PersistingStore store, FactoryThreads threads) {
        this(store, threads, LocalProcess.ownerName(), List.of());
    }

    FactoryContext(PersistingStore store, FactoryThreads threads, String owner, List<LockListener> listeners) {
        this(store, threads, owner, new LockEvents(listeners, threads::listenLater, threads.notifier()));
        ShutdownHook.closes(this);
    }

    private FactoryContext(PersistingStore store, FactoryThreads threads, String owner, LockEvents events) {
        this.threads = threads;
        this.store = store;
        this.owner = owner;
        this.events = events;
        this.expiring = store.capability(ExpiringStore.class);
        this.blocking = store.capability(BlockingStore.class);
        this.shares = store.capability(SharedStore.class).isPresent();
        this.keepsPermits = store.capability(PermitStore.class).isPresent();
        this.processBound =
                store.capability(ProcessBound.class).map(ProcessBound::reason).orElse(null);
        this.active = new ActiveLocks();
        this.closed = new AtomicBoolean();
        this.multiLockQueue = new LocalWaitQueue();
        this.acquireLoop = new AcquireLoop(store, new LocalWaitQueue(), events);
        this.renewalScheduler = new RenewalScheduler(threads, store, expiring, events);
    }

    /** Makes the context of locks over another store, with the same threads and listeners: it is closed with this one. */
    FactoryContext derived(PersistingStore other) {
        FactoryContext made = new FactoryContext(other, threads, owner, events);
        derived.add(made);
        return made;
    }

    /** The same factory for Locks that ask another store in the place of its own. */
    private FactoryContext(FactoryContext factory, PersistingStore view) {
        this.threads = factory.threads;
        this.store = view;
        this.owner = factory.owner;
        this.events = factory.events;
        this.expiring = view.capability(ExpiringStore.class);
        this.blocking = view.capability(BlockingStore.class);
        this.shares = view.capability(SharedStore.class).isPresent();
        this.keepsPermits = false;
        this.processBound = factory.processBound;
        this.active = factory.active;
        this.closed = factory.closed;
        this.multiLockQueue = factory.multiLockQueue;
        this.acquireLoop = new AcquireLoop(view, multiLockQueue, events);
        this.renewalScheduler = new RenewalScheduler(threads, view, expiring, events);
    }

    FactoryContext over(PersistingStore view) {
        return new FactoryContext(this, view);
    }

    /** The same factory for sticky Locks, all of which ask one view of its store; empty if that cannot recall. */
    Optional<FactoryContext> sticky() {
        StickyLocks known = sticky;
        return known != null ? Optional.of(known.context()) : makeSticky();
    }

    private synchronized Optional<FactoryContext> makeSticky() {
        if (sticky == null) {
            store.capability(RecallableStore.class).ifPresent(recallable -> {
                StickyStore view = new StickyStore(recallable, threads);
                sticky = new StickyLocks(view, over(view));
            });
        }
        return Optional.ofNullable(sticky).map(StickyLocks::context);
    }

    /** The key under which others share what a Lock holds: its own, unless it is sticky. */
    Key handedOut(Key key) {
        return store instanceof StickyStore view ? view.handOut(key) : key;
    }

    /** The key under which others hold what a Lock held: its own, unless it is sticky. */
    Key givenAway(Key key) {
        return store instanceof StickyStore view ? view.giveAway(key) : key;
    }

    private Optional<StickyStore> stickyStore() {
        return Optional.ofNullable(sticky).map(StickyLocks::store);
    }

    PersistingStore store() {
        return store;
    }

    /** Who the factory is, as other processes are shown it. */
    String owner() {
        return owner;
    }

    LockEvents events() {
        return events;
    }

    Optional<ExpiringStore> expiring() {
        return expiring;
    }

    /** The store with the queue of its own, if it has one. */
    Optional<BlockingStore> blocking() {
        return blocking;
    }

    @Nullable String processBound() {
        return processBound;
    }

    AcquireLoop acquireLoop() {
        return acquireLoop;
    }

    FactoryThreads threads() {
        return threads;
    }

    RenewalScheduler renewalScheduler() {
        return renewalScheduler;
    }

    /** Returns the mode the store can give: permits are shared; on a store that cannot share, readers exclude each other. */
    LockMode supported(LockMode wanted) {
        if (keepsPermits) {
            return LockMode.SHARED;
        }
        if (wanted == LockMode.EXCLUSIVE || shares) {
            return wanted;
        }
        if (fallbackTold.compareAndSet(false, true)) {
            log.debug("lock.shared_as_exclusive store={}", store.getClass().getSimpleName());
        }
        return LockMode.EXCLUSIVE;
    }

    /**
     * Something is held, and listeners are to hear of its end, too, where nobody looks for it. An alarm for each hold would wake
     * a thread in each cycle of acquire and release.
     */
    void lookLater() {
        if (events.hasListeners() && !willLook.get() && willLook.compareAndSet(false, true)) {
            try {
                Future<?> unused = threads.alarmIn(LOOK.toNanos(), this::lookAtAll);
            } catch (OutOfMemoryError e) {
                // No thread is to be had, and something is held all the same: the next hold tries again.
                willLook.set(false);
            }
        }
    }

    private void lookAtAll() {
        willLook.set(false);
        active.lookAtAll(threads.notifier());
        if (!active.isEmpty()) {
            lookLater();
        }
    }

    ActiveLocks active() {
        return active;
    }

    /** Whether close() has something to do, or is at it. */
    boolean isInUse() {
        return isClosed()
                || !active.isEmpty()
                || stickyStore().filter(StickyStore::keepsAny).isPresent()
                || derived.stream().anyMatch(FactoryContext::isInUse);
    }

    void checkOpen() {
        if (closed.get()) {
            throw new IllegalStateException("this LockFactory was closed: create a new one to acquire locks");
        }
    }

    boolean isClosed() {
        return closed.get();
    }

    /** Who comes second waits for the first, unless it is called by what the first does: all is released when it returns. */
    void close() {
        closing.lock();
        try {
            if (closed.compareAndSet(false, true)) {
                try {
                    stickyStore().ifPresent(StickyStore::releaseIdle);
                    derived.forEach(FactoryContext::endAll);
                    active.endAll();
                    // What ended by its time meanwhile: nobody releases that.
                    stickyStore().ifPresent(StickyStore::releaseIdle);
                } finally {
                    threads.close();
                    ShutdownHook.forgets(this);
                }
            }
        } finally {
            closing.unlock();
        }
    }

    /** A context that is closed with another one. */
    private void endAll() {
        closed.set(true);
        active.endAll();
    }

    /** Closes what is still open when the JVM exits, so that others need not wait for leases to end. */
    static final class ShutdownHook {

        /** A store that hangs must not keep the JVM from ending: its leases end by themselves. */
        private static final Duration LIMIT = Duration.ofSeconds(3);

        private static final Set<FactoryContext> OPEN = Collections.newSetFromMap(new WeakHashMap<>());

        /** What the JVM knows while a factory is open: later it would keep the class loader of an application that has ended. */
        private static @Nullable Thread registered;

        private ShutdownHook() {}

        static synchronized void closes(FactoryContext context) {
            OPEN.add(context);
            if (registered != null) {
                return;
            }
            Thread hook = new DaemonThreads().make(ShutdownHook::closeAll, "latchkey-exit");
            try {
                Runtime.getRuntime().addShutdownHook(hook);
                registered = hook;
            } catch (IllegalStateException e) {
                // The JVM is on its way out already: what is taken now ends with its lease.
                OPEN.clear();
            }
        }

        static synchronized void forgets(FactoryContext context) {
            OPEN.remove(context);
            if (registered == null || !OPEN.isEmpty()) {
                return;
            }
            try {
                boolean unused = Runtime.getRuntime().removeShutdownHook(registered);
            } catch (IllegalStateException e) {
                // The JVM is on its way out, and has nothing left to close.
            }
            registered = null;
        }

        private static synchronized List<FactoryContext> open() {
            return List.copyOf(OPEN);
        }

        private static void closeAll() {
            Deadline end = Deadline.in(LIMIT);
            List<Thread> closing = open().stream()
                    .filter(FactoryContext::isInUse)
                    .map(ShutdownHook::startClosing)
                    .toList();
            try {
                for (Thread thread : closing) {
                    thread.join(Math.max(1, end.remaining().toMillis()));
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private static Thread startClosing(FactoryContext context) {
            Thread thread = new Thread(context::close, "latchkey-exit-release");
            thread.setDaemon(true);
            thread.start();
            return thread;
        }
    }
}
