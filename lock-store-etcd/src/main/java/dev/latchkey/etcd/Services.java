package dev.latchkey.etcd;

import dev.latchkey.LockStorageException;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongPredicate;

/** What those who wait need of the store. */
record Services(
        Calls calls,
        Transactions transactions,
        Leases leases,
        Holds holds,
        WaiterLease waiterLease,
        Watches watches,
        ResourceMutexes entrances) {

    /** The places in lines end at once if a server answers, and with their lease otherwise. */
    void close() {
        try {
            waiterLease.revoke();
        } catch (LockStorageException | LeaseGoneException e) {
            // It ends by itself, or has ended.
        }
        watches.close();
        calls.close();
    }

    void checkOpen(String resource) {
        calls.checkOpen(resource);
    }

    /** Waits until one of the keys that were there before a revision may have been deleted, or until none of them is left. */
    void awaitEnd(String resource, KeyRange range, long revision, WaitEnd end) throws InterruptedException {
        awaitDeletion(
                resource,
                range,
                end,
                begun -> begun < revision || transactions.hasAnyBefore(resource, range, revision));
    }

    /**
     * Waits until one of several keys may have been deleted. What was deleted before the watch began is never told.
     *
     * @param isToCome whether the deletion is still to come, when the watch has begun at a revision
     */
    void awaitDeletion(String resource, KeyRange range, WaitEnd end, LongPredicate isToCome)
            throws InterruptedException {
        Watches.Watch watch = watches.start(resource, range);
        try {
            end.await(CompletableFuture.anyOf(watch.begun(), watch.done()), QueueWait.LOOK_NANOS);
            boolean isTold = watch.begun().isDone()
                    ? isToCome.test(watch.begun().join())
                    : watch.done().isDone();
            if (isTold) {
                awaitEvent(watch, end);
            }
        } finally {
            watches.stop(watch);
        }
    }

    private static void awaitEvent(Watches.Watch watch, WaitEnd end) throws InterruptedException {
        end.await(watch.done(), QueueWait.LOOK_NANOS);
        if (watch.done().isDone() && !watch.done().join()) {
            // Not to ask again and again while the server refuses to tell.
            end.pause(QueueWait.PAUSE_NANOS);
        }
    }
}
