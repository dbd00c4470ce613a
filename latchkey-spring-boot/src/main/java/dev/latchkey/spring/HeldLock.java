package dev.latchkey.spring;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockLostException;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One hold that a method runs under. Thread-safe. */
final class HeldLock {

    private static final Logger log = LoggerFactory.getLogger(LockTemplate.class);

    private final Acquirer acquirer;
    private final Lock lock;
    private final String resource;
    private final LockMode mode;
    private final LossRecord loss;
    private final CommitCheck commitCheck;
    private volatile boolean isReleased;
    private final AtomicInteger uses = new AtomicInteger();

    HeldLock(Acquirer acquirer, Lock lock, String resource, LockMode mode, LossRecord loss, CommitCheck commitCheck) {
        this.acquirer = acquirer;
        this.commitCheck = commitCheck;
        this.lock = lock;
        this.resource = resource;
        this.mode = mode;
        this.loss = loss;
    }

    String resource() {
        return resource;
    }

    /** Another may have the same resource in another store. */
    boolean is(Acquirer whose, String what) {
        return resource.equals(what) && acquirer.factory() == whose.factory();
    }

    LockMode mode() {
        return mode;
    }

    Key key() {
        return lock.key();
    }

    OptionalLong fencingToken() {
        return lock.fencingToken();
    }

    Optional<Duration> remainingLifetime() {
        return lock.remainingLifetime();
    }

    /** Work runs under it. */
    void beginUse() {
        uses.incrementAndGet();
    }

    void endUse() {
        uses.decrementAndGet();
    }

    /** Whether it was released, perhaps by another thread, and nothing runs under it any more. */
    boolean isOver() {
        return isReleased && uses.get() == 0;
    }

    /** Without asking the store. */
    boolean isLost() {
        return isReleased || loss.reason() != null || lock.isExpired();
    }

    void checkNotLost() {
        if (isLost()) {
            throw lost("the work under it must not be completed");
        }
    }

    /** Right before the commit of a transaction of this thread: throws if it must not be committed. */
    void checkBeforeCommit(@Nullable Object transaction) {
        checkNotLost();
        commitCheck.check(this, transaction);
    }

    /**
     * Asks the store.
     *
     * @throws LockLostException if it is held no longer
     * @throws LockStorageException if the store failed or did not answer
     */
    void checkHeld() {
        if (isLost() || !lock.isAcquired()) {
            throw lost("the transaction must be rolled back");
        }
    }

    /**
     * Releases it; whatever fails is logged, since the work is done or has failed itself, and the lease ends by itself.
     *
     * @return whether it was held until now, as far as is known
     */
    boolean release() {
        boolean isLost = isLost();
        isReleased = true;
        try {
            return lock.release() && !isLost;
        } catch (RuntimeException e) {
            log.warn("lock.release_failed resource={}: it ends with its TTL", resource, e);
            return !isLost;
        }
    }

    LockLostException lost(String problem) {
        LossReason reason = loss.reason();
        return new LockLostException(resource, problem, reason == null ? LossReason.EXPIRED : reason);
    }

    /** What the listener of the lock was told. */
    static final class LossRecord {

        private volatile @Nullable LossReason reason;

        void set(LossReason newReason) {
            reason = newReason;
        }

        @Nullable LossReason reason() {
            return reason;
        }
    }
}
