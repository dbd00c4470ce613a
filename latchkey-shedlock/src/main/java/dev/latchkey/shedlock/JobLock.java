package dev.latchkey.shedlock;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LockStorageException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;
import net.javacrumbs.shedlock.core.AbstractSimpleLock;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.LockException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A lock of ShedLock: one hold in a store, which ends with its {@link Term}. */
final class JobLock extends AbstractSimpleLock {

    private static final Logger log = LoggerFactory.getLogger(LatchkeyLockProvider.class);

    private final LockFactory locks;
    private final Lock lock;
    private final Term term;
    private final EndTimer timer;
    private final Future<?> end;

    /** The turn to end or to extend the hold: the timer may be about to end what is being extended. */
    private final ReentrantLock turn = new ReentrantLock();

    private boolean isExtended;

    JobLock(LockConfiguration configuration, LockFactory locks, Lock lock, Term term, EndTimer timer) {
        super(configuration);
        this.locks = locks;
        this.lock = lock;
        this.term = term;
        this.timer = timer;
        this.end = timer.schedule(this::end, term.rest());
    }

    @Override
    protected void doUnlock() {
        end.cancel(false);
        Duration toKeep = term.restToKeep();
        if (!toKeep.isZero()) {
            timer.endUnlocked(this::end, toKeep);
            return;
        }
        Key key = lock.key();
        try {
            boolean wasHeld = lock.release();
            Duration kept = term.restKeptByStore();
            if (wasHeld && !kept.isZero()) {
                Future<?> unused = timer.schedule(() -> endKept(key), kept);
            }
        } catch (LockStorageException e) {
            throw new LockException(e);
        }
    }

    @Override
    protected Optional<SimpleLock> doExtend(LockConfiguration longer) {
        turn.lock();
        try {
            if (term.rest().isZero()) {
                // The timer may be late. Nobody is to find held what is not to be had any more.
                endQuietly(lock);
                return Optional.empty();
            }
            Term extended = Term.startingNow(longer, term.minHoldBy());
            lock.refresh(extended.ttl(), extended.minHold());
            isExtended = true;
            end.cancel(false);
            return Optional.of(new JobLock(longer, locks, lock, extended, timer));
        } catch (LockLostException e) {
            end.cancel(false);
            // The store may keep what is over by the clock here, or was refreshed too late. Nobody can unlock it now.
            endQuietly(lock);
            return Optional.empty();
        } catch (LockStorageException e) {
            throw new LockException(e);
        } finally {
            turn.unlock();
        }
    }

    /** What the store ends by itself by now is over already, and costs no request. */
    private void end() {
        turn.lock();
        try {
            if (!isExtended) {
                endQuietly(lock);
            }
        } finally {
            turn.unlock();
        }
    }

    /** A store that counts seconds, or looks for how long nothing has changed, keeps it longer than it was told to. */
    private void endKept(Key key) {
        if (!locks.isClosed()) {
            endQuietly(locks.lock(key).create());
        }
    }

    private void endQuietly(Lock held) {
        try {
            boolean unused = held.release();
        } catch (RuntimeException e) {
            log.warn(
                    "lock.not_ended name={}: it ends with its TTL, if the store has one",
                    lockConfiguration.getName(),
                    e);
        }
    }
}
