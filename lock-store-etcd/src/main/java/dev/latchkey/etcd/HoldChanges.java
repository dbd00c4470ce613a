package dev.latchkey.etcd;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;

/**
 * Renews, promotes and demotes holds. Each change is a transaction that has an effect only if nobody has changed the hold since
 * it was read, so one that comes late has none.
 */
final class HoldChanges {

    /** How often others may change a hold while it is changed. */
    private static final int ATTEMPTS = 20;

    /** What the server may keep the lease of another process longer than it says. */
    private static final Duration ROUNDING = Duration.ofSeconds(1);

    private static final long CONFLICT = -1;

    private final Transactions transactions;
    private final Leases leases;

    HoldChanges(Transactions transactions, Leases leases) {
        this.transactions = transactions;
        this.leases = leases;
    }

    /** Renews, promotes or demotes what is there. */
    Response change(Request request, LockKeys keys, Optional<Hold> found) {
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
        return changed(
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

    /** Writes a hold with a lease; returns the revision at which it was created, nothing if it was changed meanwhile. */
    private interface Change {

        OptionalLong with(ClassLease lease, HoldValue value);
    }

    /** Does not change a hold whose lease has ended, or that was changed meanwhile. */
    private Optional<Response> changed(Request request, Hold own, Change change, LockMode mode) {
        String resource = request.key().resource();
        Optional<ClassLease> old = leases.find(resource, own.lease());
        if (old.isEmpty()) {
            if (!isUnchanged(request, own)) {
                return Optional.empty();
            }
            // Its server may have been behind, and not have known the lease yet. Since that read it is not.
            old = leases.find(resource, own.lease());
        }
        return old.isEmpty()
                ? Optional.of(new Response.Lost(LossReason.EXPIRED))
                : changed(request, own, old.get(), change, mode);
    }

    /** Chooses the lease: the old one if the new one would end sooner and must not. */
    private Optional<Response> changed(Request request, Hold own, ClassLease old, Change change, LockMode mode) {
        String resource = request.key().resource();
        return leases.use(resource, request.ttl(), fresh -> {
            long beforeNanos = System.nanoTime();
            long oldEndNanos = old.endNanos() + (leases.isOwn(own.lease()) ? 0 : ROUNDING.toNanos());
            boolean keeps = request.leaseChange() == LeaseChange.EXTEND && fresh.endNanos() - oldEndNanos < 0;
            ClassLease lease = keeps ? old : fresh;
            Duration wanted = keeps ? longer(request.ttl(), old, own, beforeNanos) : request.ttl();
            Duration ttl = lease.within(beforeNanos, wanted);
            OptionalLong revision = keeps
                    ? orNothing(() -> change.with(lease, lease.value(beforeNanos, ttl, request.owner())))
                    : change.with(lease, lease.value(beforeNanos, ttl, request.owner()));
            if (revision.isEmpty()) {
                return Optional.empty();
            }
            return Optional.of(
                    revision.getAsLong() == CONFLICT
                            ? Response.Conflicted.NO_HINT
                            : Holds.granted(mode, revision.getAsLong(), beforeNanos, ttl));
        });
    }

    /** The servers delete what a lease has ended a moment later; or the hold has another lease by now. */
    private boolean isUnchanged(Request request, Hold own) {
        return transactions
                .find(request.key().resource(), transactions.keys(request.key()))
                .filter(now -> now.modified() == own.modified())
                .isPresent();
    }

    /** The old lease may end meanwhile, and the hold with it. */
    private static OptionalLong orNothing(Supplier<OptionalLong> change) {
        try {
            return change.get();
        } catch (LeaseGoneException e) {
            return OptionalLong.empty();
        }
    }

    /** What is left of a hold that already lasts longer than was asked for. */
    static Duration longer(Duration ttl, ClassLease lease, Hold own, long nowNanos) {
        long leftNanos = lease.sinceNanos() + own.value().end().toNanos() - nowNanos;
        Duration left = Duration.ofNanos(Math.min(leftNanos, lease.endNanos() - nowNanos));
        return left.compareTo(ttl) > 0 ? left : ttl;
    }
}
