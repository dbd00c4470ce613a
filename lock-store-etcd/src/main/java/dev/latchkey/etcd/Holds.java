package dev.latchkey.etcd;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.LeaseChange;
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

/** Acquires, changes and ends holds, none of which waits. */
final class Holds {

    /** How often others may change a hold while it is changed. */
    private static final int ATTEMPTS = 20;

    private static final Duration ROUNDING = Duration.ofSeconds(1);

    private final Transactions transactions;
    private final Leases leases;

    Holds(Transactions transactions, Leases leases) {
        this.transactions = transactions;
        this.leases = leases;
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
                    : new Outcome(change(request, keys, acquired.own()), true);
        }
        return new Outcome(change(request, keys, transactions.find(resource, keys)), true);
    }

    /** What came of the first request: a grant, or what the owner holds already. */
    private record Acquired(Optional<Response> granted, Optional<Hold> own) {}

    private Acquired acquire(Request request, LockKeys keys) {
        String resource = request.key().resource();
        LockMode mode = request.mode();
        return withLease(resource, request.ttl(), lease -> {
            long beforeNanos = System.nanoTime();
            Duration ttl = lease.within(beforeNanos, request.ttl());
            TxnResponse answer = transactions.write(
                    resource,
                    acquiring(
                                    mode,
                                    keys,
                                    Ops.put(
                                            keys.hold(mode),
                                            lease.value(beforeNanos, ttl).bytes(),
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

    /** Does something with a lease, and once more with another one if the servers have lost the first. */
    <T> T withLease(String resource, Duration ttl, LeaseUse<T> use) {
        ClassLease lease = leases.lasting(resource, ttl);
        try {
            return use.with(lease);
        } catch (LeaseGoneException e) {
            leases.forget(lease);
        }
        try {
            return use.with(leases.lasting(resource, ttl));
        } catch (LeaseGoneException e) {
            throw Failures.ofLease(resource, e);
        }
    }

    /** What needs a lease. */
    interface LeaseUse<T> {

        T with(ClassLease lease);
    }

    static Response.Granted granted(LockMode mode, long revision, long beforeNanos, Duration ttl) {
        OptionalLong token = mode == LockMode.EXCLUSIVE ? OptionalLong.of(revision) : OptionalLong.empty();
        return new Response.Granted(mode, token, Lease.timed(beforeNanos, ttl));
    }

    /** Renews, promotes or demotes what is there. */
    private Response change(Request request, LockKeys keys, Optional<Hold> found) {
        String resource = request.key().resource();
        Optional<Hold> own = found;
        for (int i = 0; i < ATTEMPTS; i++) {
            if (own.isEmpty()) {
                return lost(resource, keys);
            }
            if (!isAsClaimed(request, own.get())) {
                return new Response.Lost(LossReason.RELEASED_ELSEWHERE);
            }
            Optional<Response> response = changeOnce(request, keys, own.get());
            if (response.isPresent()) {
                return response.get();
            }
            own = transactions.find(resource, keys);
        }
        throw Failures.unsettled(resource);
    }

    private static boolean isAsClaimed(Request request, Hold own) {
        Optional<Key.Held> claim = request.key().held();
        if (claim.isEmpty() || claim.get().mode() == LockMode.SHARED) {
            return true;
        }
        return own.mode() == LockMode.EXCLUSIVE
                ? claim.get().fencingToken().orElse(own.created()) == own.created()
                : request.isDemotion();
    }

    private Optional<Response> changeOnce(Request request, LockKeys keys, Hold own) {
        if (request.mode() == own.mode() || (own.mode() == LockMode.EXCLUSIVE && !request.isDemotion())) {
            return renew(request, own);
        }
        return own.mode() == LockMode.SHARED ? promote(request, keys, own) : demote(request, keys, own);
    }

    /** Whoever asks only for a longer lease keeps the mode, whatever it is. */
    Response refresh(Request request) {
        LockKeys keys = transactions.keys(request.key());
        String resource = request.key().resource();
        for (int i = 0; i < ATTEMPTS; i++) {
            Optional<Hold> own = transactions.find(resource, keys);
            if (own.isEmpty()) {
                return lost(resource, keys);
            }
            if (!isSameHold(request, own.get())) {
                return new Response.Lost(LossReason.RELEASED_ELSEWHERE);
            }
            Optional<Response> response = renew(request, own.get());
            if (response.isPresent()) {
                return response.get();
            }
        }
        throw Failures.unsettled(resource);
    }

    private static boolean isSameHold(Request request, Hold own) {
        OptionalLong claimed = request.key().held().map(Key.Held::fencingToken).orElse(OptionalLong.empty());
        return own.mode() == LockMode.SHARED || claimed.orElse(own.created()) == own.created();
    }

    private Response lost(String resource, LockKeys keys) {
        boolean isTaken = Transactions.first(
                        transactions.read(resource, TxnRequest.newBuilder().addSuccess(Ops.any(keys.writers()))), 0)
                .isPresent();
        return new Response.Lost(isTaken ? LossReason.TAKEN_OVER : LossReason.EXPIRED);
    }

    private Optional<Response> renew(Request request, Hold own) {
        String resource = request.key().resource();
        return changed(
                request,
                own,
                (lease, value) -> {
                    TxnResponse answer = transactions.write(
                            resource,
                            TxnRequest.newBuilder()
                                    .addCompare(Ops.unchanged(own.key(), own.modified()))
                                    .addSuccess(Ops.put(own.key(), value.bytes(), lease.id())));
                    return answer.getSucceeded() ? OptionalLong.of(own.created()) : OptionalLong.empty();
                },
                own.mode());
    }

    private Optional<Response> promote(Request request, LockKeys keys, Hold own) {
        String resource = request.key().resource();
        Optional<Response> promoted = changed(
                request,
                own,
                (lease, value) -> {
                    TxnResponse answer = transactions.write(
                            resource,
                            TxnRequest.newBuilder()
                                    .addCompare(Ops.unchanged(own.key(), own.modified()))
                                    .addCompare(Ops.onlyOneIn(keys.readers(), own.created()))
                                    .addSuccess(Ops.delete(own.key()))
                                    .addSuccess(Ops.delete(keys.promoter()))
                                    .addSuccess(Ops.put(keys.hold(LockMode.EXCLUSIVE), value.bytes(), lease.id()))
                                    .addFailure(Ops.get(own.key())));
                    if (answer.getSucceeded()) {
                        return OptionalLong.of(answer.getHeader().getRevision());
                    }
                    boolean isUnchanged = Transactions.first(answer, 0)
                            .filter(now -> now.getModRevision() == own.modified())
                            .isPresent();
                    return isUnchanged ? OptionalLong.of(CONFLICT) : OptionalLong.empty();
                },
                LockMode.EXCLUSIVE);
        return promoted;
    }

    private Optional<Response> demote(Request request, LockKeys keys, Hold own) {
        return changed(
                request,
                own,
                (lease, value) -> {
                    TxnResponse answer = transactions.write(
                            request.key().resource(),
                            TxnRequest.newBuilder()
                                    .addCompare(Ops.unchanged(own.key(), own.modified()))
                                    .addSuccess(Ops.delete(own.key()))
                                    .addSuccess(Ops.put(keys.hold(LockMode.SHARED), value.bytes(), lease.id())));
                    return answer.getSucceeded()
                            ? OptionalLong.of(answer.getHeader().getRevision())
                            : OptionalLong.empty();
                },
                LockMode.SHARED);
    }

    private static final long CONFLICT = -1;

    /** Writes a hold with a lease; returns the revision at which it was created, nothing if it was changed meanwhile. */
    private interface Change {

        OptionalLong with(ClassLease lease, HoldValue value);
    }

    /** Chooses the lease: the old one if the new one would end sooner and must not. */
    private Optional<Response> changed(Request request, Hold own, Change change, LockMode mode) {
        String resource = request.key().resource();
        Optional<ClassLease> old = leases.find(resource, own.lease());
        if (old.isEmpty()) {
            return Optional.empty();
        }
        return withLease(resource, request.ttl(), fresh -> {
            long beforeNanos = System.nanoTime();
            long oldEndNanos = old.get().endNanos() + (leases.isOwn(own.lease()) ? 0 : ROUNDING.toNanos());
            boolean keeps = request.leaseChange() == LeaseChange.EXTEND && fresh.endNanos() - oldEndNanos < 0;
            ClassLease lease = keeps ? old.get() : fresh;
            Duration ttl = keeps
                    ? longer(request.ttl(), old.get(), own, beforeNanos)
                    : fresh.within(beforeNanos, request.ttl());
            OptionalLong revision = keeps
                    ? orNothing(() -> change.with(lease, lease.value(beforeNanos, ttl)))
                    : change.with(lease, lease.value(beforeNanos, ttl));
            if (revision.isEmpty()) {
                return Optional.empty();
            }
            return Optional.of(
                    revision.getAsLong() == CONFLICT
                            ? Response.Conflicted.NO_HINT
                            : granted(mode, revision.getAsLong(), beforeNanos, ttl));
        });
    }

    /** The old lease may end meanwhile, and the hold with it. */
    private static OptionalLong orNothing(java.util.function.Supplier<OptionalLong> change) {
        try {
            return change.get();
        } catch (LeaseGoneException e) {
            return OptionalLong.empty();
        }
    }

    /** What is left of a hold that already lasts longer than was asked for. */
    private static Duration longer(Duration ttl, ClassLease lease, Hold own, long nowNanos) {
        long leftNanos = lease.sinceNanos() + own.value().end().toNanos() - nowNanos;
        Duration left = Duration.ofNanos(Math.min(leftNanos, lease.endNanos() - nowNanos));
        return left.compareTo(ttl) > 0 ? left : ttl;
    }

    boolean delete(Key key) {
        LockKeys keys = transactions.keys(key);
        return transactions.delete(key.resource(), List.of(keys.hold(LockMode.EXCLUSIVE), keys.hold(LockMode.SHARED)))
                > 0;
    }

    Optional<Response.Granted> find(Key key) {
        LockKeys keys = transactions.keys(key);
        long beforeNanos = System.nanoTime();
        return transactions
                .find(key.resource(), keys)
                .flatMap(own -> leases.find(key.resource(), own.lease())
                        .map(lease -> new Response.Granted(
                                own.mode(),
                                own.fencingToken(),
                                Lease.timed(beforeNanos, longer(Duration.ofNanos(1), lease, own, beforeNanos)))));
    }
}
