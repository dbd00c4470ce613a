package dev.latchkey;

import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.ProcessBound;
import dev.latchkey.spi.SharedStore;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What all locks of one factory share: the store with its capabilities, asked for once, the gate and the threads. */
final class FactoryContext {

    private static final Logger log = LoggerFactory.getLogger(LockFactory.class);

    private static final long WARM_UP_MILLIS = 2_000;

    private final PersistingStore store;
    private final Optional<ExpiringStore> expiring;
    private final boolean shares;
    private final @Nullable String processBound;
    private final AcquireLoop waiting;
    private final FactoryThreads threads;
    private final RenewalScheduler renewalScheduler;
    private final ActiveLocks active = new ActiveLocks();
    private final AtomicBoolean closed = new AtomicBoolean();

    /** The turn to close, which lasts until all is released. */
    private final ReentrantLock closing = new ReentrantLock();

    private final AtomicBoolean fallbackTold = new AtomicBoolean();

    FactoryContext(PersistingStore store) {
        this(store, new FactoryThreads());
    }

    FactoryContext(PersistingStore store, FactoryThreads threads) {
        this.threads = threads;
        this.store = store;
        this.expiring = store.capability(ExpiringStore.class);
        this.shares = store.capability(SharedStore.class).isPresent();
        this.processBound =
                store.capability(ProcessBound.class).map(ProcessBound::reason).orElse(null);
        this.waiting = new AcquireLoop(store, new LocalWaitQueue());
        this.renewalScheduler = new RenewalScheduler(threads, store, expiring);
        ShutdownHook.closes(this);
    }

    /** Has the store connect, for which a lease that is counted already must not wait. What fails is told by the first lock. */
    void warmUp() {
        Future<?> warm = threads.end(() -> store.find(Key.of("")));
        try {
            warm.get(WARM_UP_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            log.debug("lock.store-not-reached store={}", store.getClass().getSimpleName(), e);
        }
    }

    PersistingStore store() {
        return store;
    }

    Optional<ExpiringStore> expiring() {
        return expiring;
    }

    @Nullable String processBound() {
        return processBound;
    }

    AcquireLoop waiting() {
        return waiting;
    }

    FactoryThreads threads() {
        return threads;
    }

    RenewalScheduler renewalScheduler() {
        return renewalScheduler;
    }

    /** Returns the mode the store can give: on one that cannot share, readers exclude each other. */
    LockMode supported(LockMode wanted) {
        if (wanted == LockMode.EXCLUSIVE || shares) {
            return wanted;
        }
        if (fallbackTold.compareAndSet(false, true)) {
            log.debug("lock.shared-as-exclusive store={}", store.getClass().getSimpleName());
        }
        return LockMode.EXCLUSIVE;
    }

    ActiveLocks active() {
        return active;
    }

    /** Whether close() has something to do, or is at it. */
    boolean isInUse() {
        return isClosed() || !active.isEmpty();
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
                    active.endAll();
                } finally {
                    threads.close();
                    ShutdownHook.forgets(this);
                }
            }
        } finally {
            closing.unlock();
        }
    }
}
