package dev.latchkey.etcd;

import dev.latchkey.LockStorageException;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

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

    /**
     * Waits until one of the keys that were there before a revision may have been deleted, or until none of them is left.
     *
     * @return whether one was deleted
     */
    boolean awaitEnd(String resource, KeyRange all, KeyRange range, long revision, WaitEnd end)
            throws InterruptedException {
        return await(
                watches.start(resource, all, range, OptionalLong.of(revision)),
                end,
                () -> transactions.hasAnyBefore(resource, range, revision));
    }

    /**
     * Waits until one of several keys may have been deleted.
     *
     * @param isToCome whether the deletion is still to come, when whatever is deleted from then on is told
     */
    void awaitDeletion(String resource, KeyRange all, KeyRange range, WaitEnd end, BooleanSupplier isToCome)
            throws InterruptedException {
        boolean unused = await(watches.start(resource, all, range, OptionalLong.empty()), end, isToCome);
    }

    private static boolean await(DeletionWatch.Waiter waiter, WaitEnd end, BooleanSupplier isToCome)
            throws InterruptedException {
        try {
            end.await(CompletableFuture.anyOf(waiter.begun(), waiter.done()), QueueWait.LOOK_NANOS);
            if (waiter.begun().isDone() && !waiter.missesNothing() && !isToCome.getAsBoolean()) {
                return true;
            }
            return (waiter.begun().isDone() || waiter.done().isDone()) && isDeleted(waiter, end);
        } finally {
            waiter.stop();
        }
    }

    private static boolean isDeleted(DeletionWatch.Waiter waiter, WaitEnd end) throws InterruptedException {
        end.await(waiter.done(), QueueWait.LOOK_NANOS);
        boolean isDeleted = waiter.done().getNow(false);
        if (waiter.done().isDone() && !isDeleted) {
            // Not to ask again and again while the server refuses to tell.
            end.pause(QueueWait.PAUSE_NANOS);
        }
        return isDeleted;
    }
}
