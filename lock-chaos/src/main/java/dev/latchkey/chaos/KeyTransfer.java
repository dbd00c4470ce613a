package dev.latchkey.chaos;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.UnserializableKeyException;
import dev.latchkey.chaos.EventLog.Change;
import dev.latchkey.chaos.RecordedHold.Granted;
import java.util.Optional;
import java.util.OptionalLong;

/** The part of an {@link Actor} that gives the keys of its holds away, or goes on with what another process held. */
final class KeyTransfer {

    private final ActorContext context;
    private final EventLog log;
    private final KeyExchange keys;

    KeyTransfer(ActorContext context, KeyExchange keys) {
        this.context = context;
        this.log = context.log();
        this.keys = keys;
    }

    /**
     * Gives the key away, if that can be, or forgets it. What is believed or found of the hold afterwards is written down: nothing
     * should be.
     *
     * @return whether it was; else it is to be released
     */
    boolean give(RecordedHold held) {
        long now = System.nanoTime();
        Lock lock = held.lock();
        if (lock.isExpired() || isBoundToItsProcess(lock)) {
            return false;
        }
        String hold = held.now().id();
        log.ended(hold, now);
        Key key;
        try {
            key = lock.transferKey();
        } catch (IllegalStateException | LockStorageException e) {
            // Over since it was looked at, or a demotion was not answered, which its receiver would be in for.
            return false;
        }
        log.transferred(hold, now);
        if (!context.workload().forgets(context.random())) {
            keys.give(hold, key);
        }
        held.believe(now);
        if (lock.release()) {
            log.released(hold, System.nanoTime(), true);
        }
        return true;
    }

    private static boolean isBoundToItsProcess(Lock lock) {
        try {
            return lock.key().serialize().isEmpty();
        } catch (UnserializableKeyException e) {
            return true;
        } catch (IllegalStateException e) {
            // Other Locks of this process read under the same sticky hold.
            return true;
        }
    }

    /** Goes on with what another process held; empty if it is not held any more. */
    Optional<RecordedHold> receive(LockFactory locks, KeyExchange.Offer given) {
        Lock lock = locks.lock(given.key())
                .ttl(context.workload().ttl(context.random()))
                .create();
        long asked = System.nanoTime();
        if (!isHeld(lock, given)) {
            return Optional.empty();
        }
        long now = System.nanoTime();
        LockMode mode = lock.key().held().map(Key.Held::mode).orElse(LockMode.EXCLUSIVE);
        Granted received = new Granted(context.nextHold(), given.key().resource(), mode, lock.fencingToken());
        OptionalLong end = RecordedHold.end(lock, now);
        if (lock.isExpired()) {
            return Optional.empty();
        }
        Change change = new Change(given.hold(), received.id(), mode);
        log.received(change, received.resource(), received.token(), asked, now, end);
        return Optional.of(new RecordedHold(lock, received, context));
    }

    private boolean isHeld(Lock lock, KeyExchange.Offer given) {
        context.asks();
        try {
            if (context.random().nextBoolean()) {
                lock.refresh();
                return true;
            }
            // A no is not judged: Memcached may not know for how long the last second of a lease is held, and then says
            // it.
            return lock.isAcquired();
        } catch (LockLostException e) {
            log.notReceived(given.hold(), System.nanoTime());
        } catch (LockStorageException e) {
            // Whatever is held is over with its lease.
        }
        return false;
    }
}
