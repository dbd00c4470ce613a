package dev.latchkey.etcd;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Acquires, finds and ends holds, none of which waits. */
final class Holds {

    private final Transactions transactions;
    private final Leases leases;
    private final HoldChanges changes;

    Holds(Transactions transactions, Leases leases) {
        this.transactions = transactions;
        this.leases = leases;
        this.changes = new HoldChanges(transactions, leases);
    }

    /**
     * An answer.
     *
     * @param isHolder whether the owner holds something, also if what it wants conflicts with others
     */
    record Outcome(Response response, boolean isHolder) {}

    Response save(Request request) {
        return attempt(request).response();
    }

    Response refresh(Request request) {
        return changes.refresh(request);
    }

    Outcome attempt(Request request) {
        LockKeys keys = transactions.keys(request.key());
        String resource = request.key().resource();
        if (request.key().held().isEmpty()) {
            Acquired acquired = acquire(request, keys);
            if (acquired.granted().isPresent()) {
                return new Outcome(acquired.granted().get(), true);
            }
            return acquired.own().isEmpty()
                    ? new Outcome(Response.Conflicted.NO_HINT, false)
                    : new Outcome(changes.change(request, keys, acquired.own()), true);
        }
        return new Outcome(changes.change(request, keys, transactions.find(resource, keys)), true);
    }

    /** What came of the first request: a grant, or what the owner holds already. */
    private record Acquired(Optional<Response> granted, Optional<Hold> own) {}

    private Acquired acquire(Request request, LockKeys keys) {
        String resource = request.key().resource();
        LockMode mode = request.mode();
        return leases.use(resource, request.ttl(), lease -> {
            long beforeNanos = System.nanoTime();
            Duration ttl = lease.within(beforeNanos, request.ttl());
            TxnResponse answer = transactions.write(
                    resource,
                    acquiring(
                                    mode,
                                    keys,
                                    Ops.put(
                                            keys.hold(mode),
                                            lease.value(beforeNanos, ttl, request.owner())
                                                    .bytes(),
                                            lease.id()))
                            .addAllFailure(Transactions.holds(keys)));
            return answer.getSucceeded()
                    ? new Acquired(
                            Optional.of(granted(mode, answer.getHeader().getRevision(), beforeNanos, ttl)),
                            Optional.empty())
                    : new Acquired(Optional.empty(), Transactions.found(keys, answer));
        });
    }

    /** Acquires what is free; what else to do is up to the caller. */
    static TxnRequest.Builder acquiring(LockMode mode, LockKeys keys, RequestOp hold) {
        return TxnRequest.newBuilder().addAllCompare(isFree(mode, keys)).addSuccess(hold);
    }

    /** Who waits has precedence. */
    private static List<Compare> isFree(LockMode mode, LockKeys keys) {
        return mode == LockMode.EXCLUSIVE
                ? List.of(Ops.noneIn(keys.all()))
                : List.of(
                        Ops.noneIn(keys.writers()),
                        Ops.noneIn(keys.waitingWriters()),
                        Ops.noneIn(keys.promoters()),
                        Ops.absent(keys.hold(mode)));
    }

    static Response.Granted granted(LockMode mode, long revision, long beforeNanos, Duration ttl) {
        OptionalLong token = mode == LockMode.EXCLUSIVE ? OptionalLong.of(revision) : OptionalLong.empty();
        return new Response.Granted(mode, token, Lease.timed(beforeNanos, ttl));
    }

    boolean delete(Key key) {
        LockKeys keys = transactions.keys(key);
        return transactions.delete(key.resource(), List.of(keys.hold(LockMode.EXCLUSIVE), keys.hold(LockMode.SHARED)))
                > 0;
    }

    Optional<Response.Granted> find(Key key) {
        LockKeys keys = transactions.keys(key);
        Optional<Hold> first = transactions.find(key.resource(), keys);
        if (first.isEmpty()) {
            return Optional.empty();
        }
        Optional<Response.Granted> found = granted(key, first.get());
        // A server that is behind does not know the lease yet, until it has read something else.
        return found.isPresent()
                ? found
                : transactions.find(key.resource(), keys).flatMap(again -> granted(key, again));
    }

    /** Nothing if the lease has ended. */
    private Optional<Response.Granted> granted(Key key, Hold own) {
        long beforeNanos = System.nanoTime();
        return leases.find(key.resource(), own.lease())
                .map(lease -> new Response.Granted(
                        own.mode(),
                        own.fencingToken(),
                        Lease.timed(beforeNanos, HoldChanges.longer(Duration.ofNanos(1), lease, own, beforeNanos))));
    }
}
