package dev.latchkey.chaos;

import dev.latchkey.Lock;
import dev.latchkey.LockLostException;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.chaos.EventLog.Change;
import dev.latchkey.chaos.RecordedHold.Granted;
import java.time.Duration;
import java.util.OptionalLong;

/** The part of an {@link Actor} that promotes and demotes what it holds. */
final class ModeChanger {

    private final ActorContext context;
    private final EventLog log;

    ModeChanger(ActorContext context) {
        this.context = context;
        this.log = context.log();
    }

    /**
     * Promotes a reader, or demotes a writer. Whoever demotes stops writing before it asks; whoever promotes reads on until it has
     * the answer.
     *
     * @return whether it is held in the other mode
     */
    boolean change(RecordedHold held) throws InterruptedException {
        long asked = System.nanoTime();
        String before = held.now().id();
        if (held.lock().isExpired()) {
            return false;
        }
        LockMode mode = held.now().mode() == LockMode.SHARED ? LockMode.EXCLUSIVE : LockMode.SHARED;
        log.changing(before, asked);
        if (mode == LockMode.SHARED) {
            log.ended(before, asked);
        }
        try {
            if (request(held, mode)) {
                return changed(held, mode, asked);
            }
            if (mode == LockMode.EXCLUSIVE) {
                held.believe(asked);
            }
        } catch (LockLostException e) {
            log.lost(before, System.nanoTime());
        } catch (LockStorageException e) {
            // A reader reads on. Who wrote believes in nothing until it has released.
        }
        return false;
    }

    /** A promotion may wait for other readers, and reads on meanwhile; also if it has waited in vain. */
    private boolean request(RecordedHold held, LockMode mode) throws InterruptedException {
        Duration maxWait = context.workload().maxWaitForChange(context.random());
        try {
            return context.request(held.lock(), mode, maxWait);
        } finally {
            if (!maxWait.isZero()) {
                log.changing(held.now().id(), System.nanoTime());
            }
        }
    }

    private boolean changed(RecordedHold held, LockMode mode, long asked) {
        Lock lock = held.lock();
        Granted before = held.now();
        long now = System.nanoTime();
        Granted next = new Granted(context.nextHold(), before.resource(), mode, lock.fencingToken());
        OptionalLong end = RecordedHold.end(lock, now);
        if (lock.isExpired()) {
            return false;
        }
        log.changed(new Change(before.id(), next.id(), mode), next.token(), asked, now, end);
        held.becomes(next);
        return true;
    }
}
