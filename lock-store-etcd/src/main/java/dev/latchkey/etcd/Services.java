package dev.latchkey.etcd;

import com.google.protobuf.ByteString;
import dev.latchkey.LockStorageException;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** What those who wait need of the store. */
record Services(
        Calls calls,
        Transactions transactions,
        Leases leases,
        Holds holds,
        WaiterLease waiterLease,
        Watches watches,
        ResourceMutexes entrances) {

    private static final int LEAVING_ATTEMPTS = 60;
    private static final int MARK_ATTEMPTS = 2;

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

    /**
     * Deletes a key of one who waited, as it was created. If that cannot be done now, it is done as soon as possible, for
     * others of this process keep its lease.
     *
     * @return whether it is gone now
     */
    boolean leave(String resource, ByteString key, long created) {
        return created == 0 || leave(resource, key, created, LEAVING_ATTEMPTS);
    }

    private boolean leave(String resource, ByteString key, long created, int attempts) {
        try {
            transactions.write(
                    resource,
                    TxnRequest.newBuilder()
                            .addCompare(Ops.createdAt(key, created))
                            .addSuccess(Ops.delete(key)));
            return true;
        } catch (LockStorageException e) {
            if (attempts > 1 && !calls.isClosed()) {
                CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS).execute(() -> {
                    boolean unused = leave(resource, key, created, attempts - 1);
                });
            }
            return false;
        }
    }

    /**
     * A key that lasts as long as the process waits.
     *
     * @param created the revision of its creation; zero if the condition was not met
     * @param reads what was read before it was put; empty if it was there already
     */
    record Mark(long created, Optional<TxnResponse> reads) {}

    /** Puts a key if a condition is met, unless it is there. */
    Mark mark(String resource, ByteString key, Compare condition, List<RequestOp> reads) {
        for (int attempt = 1; ; attempt++) {
            long lease = waiterLease.id(resource);
            try {
                TxnResponse answer = transactions.write(
                        resource,
                        TxnRequest.newBuilder()
                                .addCompare(condition)
                                .addAllSuccess(reads)
                                .addSuccess(Ops.put(key, ByteString.EMPTY, lease))
                                .addFailure(Ops.get(key)));
                return answer.getSucceeded()
                        ? new Mark(answer.getHeader().getRevision(), Optional.of(answer))
                        : new Mark(
                                Transactions.first(answer, 0)
                                        .map(KeyValue::getCreateRevision)
                                        .orElse(0L),
                                Optional.empty());
            } catch (LeaseGoneException e) {
                waiterLease.forget(lease);
                if (attempt == MARK_ATTEMPTS) {
                    throw Failures.ofLease(resource, e);
                }
            } catch (LockStorageException e) {
                // It may come later, when nobody knows of it: its lease must end.
                waiterLease.forget(lease);
                if (e.failure() != LockStorageException.Failure.IN_DOUBT || attempt == MARK_ATTEMPTS) {
                    throw e;
                }
            }
        }
    }
}
