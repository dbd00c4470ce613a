package dev.latchkey.etcd;

import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** What one owner in a line asks for: its place, the lock, and to leave. Never waits for others. */
final class QueuePlace {

    private final Request request;
    private final LockKeys keys;
    private final Services services;
    private final QueueRules rules;
    private final WaiterKey place;

    /** Of the one request for a grant that was not answered: the second one fails the wait. */
    private @Nullable LockStorageException doubt;

    QueuePlace(Request request, LockKeys keys, Services services) {
        this.request = request;
        this.keys = keys;
        this.services = services;
        this.rules = new QueueRules(keys, request.mode());
        this.place = new WaiterKey(services, request, keys.waiter(request.mode()));
    }

    /** What a transaction has found: the end, or whose end to wait for and since when, or that the place is lost. */
    record Look(
            Optional<Holds.Outcome> outcome,
            boolean isPlaceLost,
            Optional<QueueRules.Obstacle> obstacle,
            long revision) {

        private static Look ended(Holds.Outcome outcome) {
            return new Look(Optional.of(outcome), false, Optional.empty(), 0);
        }

        private static Look granted(Response response) {
            return ended(new Holds.Outcome(response, true));
        }

        private static Look behind(Optional<QueueRules.Obstacle> obstacle, long revision) {
            return new Look(Optional.empty(), false, obstacle, revision);
        }
    }

    private String resource() {
        return request.key().resource();
    }

    /** Tries, and steps into the line by the same request if this store waits for something already. */
    Look enter() {
        OptionalLong placeLease = services.waiterLease().known(resource());
        if (placeLease.isPresent()) {
            Optional<Look> entered =
                    services.leases().use(resource(), request.ttl(), lease -> enter(lease, placeLease.getAsLong()));
            if (entered.isPresent()) {
                return entered.get();
            }
        }
        Holds.Outcome outcome = services.holds().attempt(request);
        return outcome.response() instanceof Response.Conflicted && !outcome.isHolder() ? join() : Look.ended(outcome);
    }

    /** Nothing if the owner holds something, or the lease of the place is lost. */
    private Optional<Look> enter(ClassLease lease, long placeLease) {
        long beforeNanos = System.nanoTime();
        Duration ttl = lease.within(beforeNanos, request.ttl());
        TxnRequest.Builder join = TxnRequest.newBuilder()
                .addCompare(Ops.absent(keys.hold(LockMode.EXCLUSIVE)))
                .addCompare(Ops.absent(keys.hold(LockMode.SHARED)))
                .addCompare(Ops.absent(place.name()))
                .addAllSuccess(rules.obstacles(Long.MAX_VALUE))
                .addSuccess(Ops.put(place.name(), place.value(), placeLease));
        TxnResponse answer;
        try {
            answer = services.transactions()
                    .write(
                            resource(),
                            Holds.acquiring(request.mode(), keys, hold(lease, beforeNanos, ttl))
                                    .addFailure(Ops.nested(join)));
        } catch (LeaseGoneException e) {
            services.waiterLease().forget(placeLease);
            return Optional.empty();
        } catch (LockStorageException e) {
            place.mayComeLate(e, placeLease);
            throw e;
        }
        long revision = answer.getHeader().getRevision();
        if (answer.getSucceeded()) {
            return Optional.of(Look.granted(Holds.granted(request.mode(), revision, beforeNanos, ttl)));
        }
        TxnResponse joined = answer.getResponses(0).getResponseTxn();
        if (!joined.getSucceeded()) {
            return Optional.empty();
        }
        place.putAt(revision, placeLease);
        return Optional.of(Look.behind(rules.obstacle(joined, 0), revision + 1));
    }

    private RequestOp hold(ClassLease lease, long beforeNanos, Duration ttl) {
        return Ops.put(
                keys.hold(request.mode()),
                lease.value(beforeNanos, ttl, request.owner()).bytes(),
                lease.id());
    }

    /** Steps into the line, and sees who is before it. */
    Look join() {
        Optional<TxnResponse> answer = place.put(Ops.absent(place.name()), rules.obstacles(Long.MAX_VALUE));
        return Look.behind(answer.flatMap(reads -> rules.obstacle(reads, 0)), place.created() + 1);
    }

    /** Looks who is before it, which writes nothing. What is more than that, another look finds out. */
    Look see() {
        place.keep();
        Optional<TxnResponse> answer = read(rules.obstacles(place.created()));
        Optional<QueueRules.Obstacle> obstacle = answer.filter(this::waits).flatMap(reads -> rules.obstacle(reads, 3));
        return Look.behind(
                obstacle,
                answer.map(reads -> reads.getHeader().getRevision() + 1).orElse(0L));
    }

    /**
     * Looks whether the same one as before is before it. That is cheap: who is the last of a line, a server finds out by reading
     * all of it, and each of many who wait would ask for that every two seconds.
     */
    Look seeAgain(Look before) {
        place.keep();
        List<RequestOp> same =
                before.obstacle().map(obstacle -> Ops.anyBefore(obstacle.keys(), before.revision())).stream()
                        .toList();
        Optional<TxnResponse> answer = read(same);
        boolean isSame = answer.filter(this::waits)
                .flatMap(reads -> Transactions.first(reads, 3))
                .isPresent();
        return isSame ? Look.behind(before.obstacle(), answer.get().getHeader().getRevision() + 1) : see();
    }

    /** Reads what the owner holds, its place, and more; nothing if no server answers. */
    private Optional<TxnResponse> read(List<RequestOp> more) {
        try {
            return Optional.of(services.transactions()
                    .read(
                            resource(),
                            TxnRequest.newBuilder()
                                    .addAllSuccess(Transactions.holds(keys))
                                    .addSuccess(Ops.get(place.name()))
                                    .addAllSuccess(more)));
        } catch (LockStorageException e) {
            return Optional.empty();
        }
    }

    private boolean waits(TxnResponse answer) {
        return isInLine(answer) && Transactions.found(keys, answer).isEmpty();
    }

    private boolean isInLine(TxnResponse answer) {
        return Transactions.first(answer, 2)
                .filter(found -> found.getCreateRevision() == place.created())
                .isPresent();
    }

    /** Takes the lock if it is its turn. A grant whose answer is lost is found by the next look: the place is then gone. */
    Look look() {
        place.keep();
        try {
            return services.leases().use(resource(), request.ttl(), this::look);
        } catch (LockStorageException e) {
            if (e.failure() != LockStorageException.Failure.IN_DOUBT || doubt != null) {
                throw e;
            }
            doubt = e;
            return Look.behind(Optional.empty(), 0);
        }
    }

    private Look look(ClassLease lease) {
        long beforeNanos = System.nanoTime();
        Duration ttl = lease.within(beforeNanos, request.ttl());
        TxnResponse answer = services.transactions()
                .write(
                        resource(),
                        TxnRequest.newBuilder()
                                .addCompare(Ops.createdAt(place.name(), place.created()))
                                .addAllCompare(rules.isTurnOf(place.created()))
                                .addSuccess(Ops.delete(place.name()))
                                .addSuccess(hold(lease, beforeNanos, ttl))
                                .addAllFailure(Transactions.holds(keys))
                                .addFailure(Ops.get(place.name()))
                                .addAllFailure(rules.obstacles(place.created())));
        long revision = answer.getHeader().getRevision();
        if (answer.getSucceeded()) {
            return Look.granted(Holds.granted(request.mode(), revision, beforeNanos, ttl));
        }
        if (Transactions.found(keys, answer).isPresent()) {
            return Look.granted(services.holds().save(request));
        }
        boolean isInLine = isInLine(answer);
        Optional<QueueRules.Obstacle> obstacle = rules.obstacle(answer, 3);
        if (isInLine && obstacle.isEmpty()) {
            rules.nobodyWasBefore();
        }
        return new Look(Optional.empty(), !isInLine, obstacle, revision + 1);
    }

    /** Leaves the line, and says nothing of what an unanswered request may have granted. */
    void leave() {
        boolean unused = place.leave();
    }

    /** Leaves the line. Nobody else grants anything, but a request of this wait without an answer may have. */
    void giveUp() {
        boolean hasLeft = place.leave();
        LockStorageException unanswered = doubt;
        if (unanswered != null) {
            if (!hasLeft) {
                throw unanswered;
            }
            try {
                services.transactions().delete(resource(), List.of(keys.hold(request.mode())));
            } catch (LockStorageException e) {
                throw withDoubt(e);
            }
        }
    }

    /** What to tell of a failure: if it says that it did nothing, the grant in doubt may have done something. */
    LockStorageException withDoubt(LockStorageException failure) {
        LockStorageException unanswered = doubt;
        if (unanswered == null || unanswered == failure || failure.failure() == LockStorageException.Failure.IN_DOUBT) {
            return failure;
        }
        unanswered.addSuppressed(failure);
        return unanswered;
    }
}
