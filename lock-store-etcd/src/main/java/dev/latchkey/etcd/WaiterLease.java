package dev.latchkey.etcd;

import io.etcd.jetcd.api.LeaseGrantRequest;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.LeaseKeepAliveRequest;
import io.etcd.jetcd.api.LeaseKeepAliveResponse;
import io.etcd.jetcd.api.LeaseRevokeRequest;
import io.grpc.stub.StreamObserver;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The lease of all places in lines that this store has: they are lost when this process dies. It is renewed by those who wait,
 * and no hold depends on it.
 */
final class WaiterLease {

    private static final long SECONDS = 10;
    private static final long RENEWAL_NANOS = TimeUnit.SECONDS.toNanos(SECONDS) / 4;

    private final Calls calls;
    private final AtomicReference<@Nullable Current> current = new AtomicReference<>();

    /** Places that came after that would be nobody's. */
    private volatile boolean isRevoked;

    private record Current(long id, long renewedNanos) {}

    WaiterLease(Calls calls) {
        this.calls = calls;
    }

    /** Returns one that is kept; empty if nobody has waited for a while. */
    OptionalLong known(String resource) {
        Current known = current.get();
        return known == null || isOld(known) ? OptionalLong.empty() : OptionalLong.of(id(resource));
    }

    private static boolean isOld(Current lease) {
        return System.nanoTime() - lease.renewedNanos() > TimeUnit.SECONDS.toNanos(SECONDS);
    }

    /** Returns one that has just been renewed, or need not be yet. */
    long id(String resource) {
        checkNotRevoked(resource);
        Current known = current.get();
        if (known == null || isOld(known)) {
            return granted(resource, known);
        }
        long nowNanos = System.nanoTime();
        if (nowNanos - known.renewedNanos() > RENEWAL_NANOS
                && current.compareAndSet(known, new Current(known.id(), nowNanos))) {
            renew(resource, known.id());
        }
        return known.id();
    }

    /** A waiter that finds another's new lease takes it; several at once may make several, all of which serve. */
    private long granted(String resource, @Nullable Current old) {
        long beforeNanos = System.nanoTime();
        long id = calls.ask(
                        resource,
                        LeaseGrpc.getLeaseGrantMethod(),
                        LeaseGrantRequest.newBuilder().setTTL(SECONDS).build(),
                        Calls.Repeat.HARMLESS)
                .getID();
        Current mine = new Current(id, beforeNanos);
        long taken = Objects.requireNonNull(current.updateAndGet(now -> now == null || now.equals(old) ? mine : now))
                .id();
        checkNotRevoked(resource);
        return taken;
    }

    /** Asked after a lease was set, so that it is either found by whoever revokes, or given to nobody. */
    private void checkNotRevoked(String resource) {
        if (isRevoked) {
            throw Failures.closed(resource);
        }
    }

    /** Does not wait for the answer: a place that was lost is noticed by its waiter. */
    private void renew(String resource, long id) {
        StreamObserver<LeaseKeepAliveRequest> requests = calls.stream(
                resource,
                LeaseGrpc.getLeaseKeepAliveMethod(),
                new StreamObserver<LeaseKeepAliveResponse>() {
                    @Override
                    public void onNext(LeaseKeepAliveResponse answer) {
                        if (answer.getTTL() <= 0) {
                            forget(id);
                        }
                    }

                    @Override
                    public void onError(Throwable failure) {}

                    @Override
                    public void onCompleted() {}
                },
                calls.server(),
                calls.streamHeaders(resource));
        requests.onNext(LeaseKeepAliveRequest.newBuilder().setID(id).build());
        requests.onCompleted();
    }

    /** Leaves it to its end: the servers do not know it any more, or a key that nobody wants may come to it late. */
    void forget(long id) {
        var unused = current.updateAndGet(known -> known != null && known.id() == id ? null : known);
    }

    /** Gives up all places, and gives no more; called when the store is closed. */
    void revoke() {
        isRevoked = true;
        Current known = current.getAndSet(null);
        if (known != null) {
            calls.ask(
                    "",
                    LeaseGrpc.getLeaseRevokeMethod(),
                    LeaseRevokeRequest.newBuilder().setID(known.id()).build(),
                    Calls.Repeat.NEVER);
        }
    }
}
