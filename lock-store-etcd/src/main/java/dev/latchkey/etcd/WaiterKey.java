package dev.latchkey.etcd;

import com.google.protobuf.ByteString;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.Request;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The key of one who waits: its place in a line, or what keeps other readers out. It lasts as long as the {@link WaiterLease}
 * that it belongs to. That lease is left to its end if a request that puts a key on it was not answered, since the key may
 * come late, when nobody knows of it. Whoever still waits moves its own key to the next lease.
 */
final class WaiterKey {

    /** One a second, for about as long as the lease lasts that others may renew. */
    private static final int LEAVING_ATTEMPTS = 10;

    private static final int ATTEMPTS = 2;

    private final Services services;
    private final String resource;
    private final ByteString key;
    private final ByteString value;

    /** The revision of its creation; zero if it is not there. */
    private long created;

    /** The lease that it belongs to. */
    private long lease;

    WaiterKey(Services services, Request request, ByteString key) {
        this.services = services;
        this.resource = request.key().resource();
        this.key = key;
        this.value = OwnerText.value(request.owner());
    }

    ByteString name() {
        return key;
    }

    /** Who waits. */
    ByteString value() {
        return value;
    }

    long created() {
        return created;
    }

    /** It was put by another request. */
    void putAt(long revision, long ofLease) {
        created = revision;
        lease = ofLease;
    }

    /** The request that was to put it failed: if that was not answered, the key may come late. */
    void mayComeLate(LockStorageException failure, long ofLease) {
        if (failure.failure() == LockStorageException.Failure.IN_DOUBT) {
            services.waiterLease().forget(ofLease);
        }
    }

    /**
     * Puts it if a condition is met, unless it is there.
     *
     * @return what was read before it was put; empty if it was there, or the condition was not met
     */
    Optional<TxnResponse> put(Compare condition, List<RequestOp> reads) {
        for (int attempt = 1; ; attempt++) {
            long current = services.waiterLease().id(resource);
            try {
                return put(condition, reads, current);
            } catch (LeaseGoneException e) {
                services.waiterLease().forget(current);
                if (attempt == ATTEMPTS) {
                    throw Failures.ofLease(resource, e);
                }
            } catch (LockStorageException e) {
                mayComeLate(e, current);
                if (e.failure() != LockStorageException.Failure.IN_DOUBT || attempt == ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private Optional<TxnResponse> put(Compare condition, List<RequestOp> reads, long current) {
        TxnResponse answer = services.transactions()
                .write(
                        resource,
                        TxnRequest.newBuilder()
                                .addCompare(condition)
                                .addAllSuccess(reads)
                                .addSuccess(Ops.put(key, value, current))
                                .addFailure(Ops.get(key)));
        if (answer.getSucceeded()) {
            putAt(answer.getHeader().getRevision(), current);
            return Optional.of(answer);
        }
        putAt(0, 0);
        Transactions.first(answer, 0).ifPresent(found -> putAt(found.getCreateRevision(), found.getLease()));
        keep();
        return Optional.empty();
    }

    /** Has its lease renewed, or moves to the one that is renewed now. It stays as old as it is, and so does the place. */
    void keep() {
        long current = services.waiterLease().id(resource);
        if (created == 0 || lease == current) {
            return;
        }
        try {
            services.transactions()
                    .write(
                            resource,
                            TxnRequest.newBuilder()
                                    .addCompare(Ops.createdAt(key, created))
                                    .addSuccess(Ops.put(key, value, current)));
            lease = current;
        } catch (LeaseGoneException e) {
            services.waiterLease().forget(current);
        } catch (LockStorageException e) {
            // Moved or not, the next look tries again: nothing comes of a request that is too late for this key.
            if (e.failure() != LockStorageException.Failure.IN_DOUBT) {
                throw e;
            }
        }
    }

    /**
     * Deletes it. If that cannot be done now, it is done as soon as possible, for others of this process keep its lease; in the
     * end that is left to its end, and the others move to another one.
     *
     * @return whether it is gone now
     */
    boolean leave() {
        return created == 0 || leave(created, LEAVING_ATTEMPTS);
    }

    private boolean leave(long revision, int attempts) {
        try {
            services.transactions()
                    .write(
                            resource,
                            TxnRequest.newBuilder()
                                    .addCompare(Ops.createdAt(key, revision))
                                    .addSuccess(Ops.delete(key)));
            return true;
        } catch (LockStorageException e) {
            if (attempts <= 1) {
                services.waiterLease().forget(lease);
            } else if (!services.calls().isClosed()) {
                CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS).execute(() -> {
                    boolean unused = leave(revision, attempts - 1);
                });
            }
            return false;
        }
    }
}
