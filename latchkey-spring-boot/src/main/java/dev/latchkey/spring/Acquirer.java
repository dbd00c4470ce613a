package dev.latchkey.spring;

import dev.latchkey.Lock;
import dev.latchkey.LockBuilder;
import dev.latchkey.LockFactory;
import dev.latchkey.LockMode;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Takes locks and gives them back, and knows what this application holds. Thread-safe. */
final class Acquirer {

    /** Who is told of a loss: a thread that goes on with other work meanwhile must not be. */
    enum OnLoss {
        INTERRUPTS,
        IS_ONLY_KNOWN
    }

    private final Supplier<LockFactory> factory;
    private final Supplier<CommitCheck> commitCheck;
    private final Set<HeldLock> held = ConcurrentHashMap.newKeySet();

    /** The factory is asked for with the first lock, which opens the store. */
    Acquirer(Supplier<LockFactory> factory, Supplier<CommitCheck> commitCheck) {
        this.factory = factory;
        this.commitCheck = commitCheck;
    }

    /** What tells the same lock from one elsewhere: templates, and contexts with a parent, may share it. */
    LockFactory factory() {
        return factory.get();
    }

    Set<HeldLock> held() {
        return held;
    }

    /**
     * Takes a lock.
     *
     * @return null if it is held by another, and the call is to be skipped
     */
    @Nullable HeldLock acquire(String resource, LockSettings settings, OnLoss onLoss) throws InterruptedException {
        HeldLock.LossRecord loss = new HeldLock.LossRecord();
        LockBuilder builder = settings.builder(factory.get(), resource).onLost(loss::set);
        if (onLoss == OnLoss.INTERRUPTS) {
            builder.interruptOnLoss();
        }
        Lock lock = builder.create();
        if (!isAcquired(lock, settings)) {
            return null;
        }
        HeldLock acquired = new HeldLock(this, lock, resource, settings.mode(), loss, commitCheck.get());
        held.add(acquired);
        return acquired;
    }

    private static boolean isAcquired(Lock lock, LockSettings settings) throws InterruptedException {
        boolean isShared = settings.mode() == LockMode.SHARED;
        Optional<Duration> maxWait = settings.maxWait();
        if (settings.ifHeld() == IfHeld.SKIP) {
            Duration wait = maxWait.orElse(Duration.ZERO);
            return isShared ? lock.tryAcquireShared(wait) : lock.tryAcquire(wait);
        }
        if (maxWait.isPresent()) {
            Lock unused = isShared ? lock.acquireShared(maxWait.get()) : lock.acquire(maxWait.get());
        } else {
            Lock unused = isShared ? lock.acquireShared() : lock.acquire();
        }
        return true;
    }

    /** Releases it; tells whether it was held until now. */
    boolean release(HeldLock one) {
        held.remove(one);
        return one.release();
    }
}
