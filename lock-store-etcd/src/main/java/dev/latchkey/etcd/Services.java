package dev.latchkey.etcd;

import dev.latchkey.LockStorageException;

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

    void awaitDeletion(String resource, KeyRange range, long revision, WaitEnd end) throws InterruptedException {
        Watches.Watch watch = watches.start(resource, range, revision);
        try {
            end.await(watch.done(), QueueWait.LOOK_NANOS);
            if (watch.done().isDone() && !watch.done().join()) {
                // Not to ask again and again while the server refuses to tell.
                end.pause(QueueWait.PAUSE_NANOS);
            }
        } finally {
            watches.stop(watch);
        }
    }
}
