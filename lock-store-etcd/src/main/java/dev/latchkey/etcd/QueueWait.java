package dev.latchkey.etcd;

import com.google.protobuf.ByteString;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One owner in the line of a resource. It watches the one before it, or the holder if it is the first, and acquires by a
 * transaction of its own, with a lease that was not there while it waited: nobody else grants it anything.
 */
final class QueueWait {

    /** In case an event was lost, and to renew the lease of the place. */
    static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** After a watch that ended without an event. */
    static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Request request;
    private final LockKeys keys;
    private final Services services;
    private final ByteString place;

    /** The revision that is the place in the line. */
    private long created;

    /** A reader lets writers behind it wait; of no writers etcd cannot say that all of them are behind. */
    private boolean hasWritersBehind;

    /** Of the one request for a grant that was not answered: the second one fails the wait. */
    private @Nullable LockStorageException doubt;

    QueueWait(Request request, LockKeys keys, Services services) {
        this.request = request;
        this.keys = keys;
        this.services = services;
        this.place = keys.waiter(request.mode());
    }

    /** What a transaction has found: the end, or whose end to wait for and since when, or that the place is lost. */
    private record Look(
            Optional<Holds.Outcome> outcome, boolean isPlaceLost, Optional<KeyRange> obstacle, long revision) {}

    /** Tries, and waits if others are before. An owner that reads already does not wait here. */
    Holds.Outcome await(WaitEnd end) throws InterruptedException {
        long maxWaitNanos =
                Math.min(services.calls().limit().toNanos(), Math.max(0, end.endNanos() - System.nanoTime()));
        Look first = services.entrances().inOrder(resource(), maxWaitNanos, this::enter);
        if (first.outcome().isPresent()) {
            return first.outcome().get();
        }
        Response response = awaitTurn(first, end);
        return new Holds.Outcome(response, response instanceof Response.Granted);
    }

    private Response awaitTurn(Look first, WaitEnd end) throws InterruptedException {
        Response response;
        try {
            response = awaitGrant(first, end);
        } catch (LockStorageException e) {
            boolean unused = services.leave(resource(), place, created);
            throw e;
        } catch (InterruptedException e) {
            giveUp();
            throw e;
        }
        if (!(response instanceof Response.Granted)) {
            giveUp();
        }
        return response;
    }

    private Response awaitGrant(Look first, WaitEnd end) throws InterruptedException {
        Look look = first;
        while (look.outcome().isEmpty()) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            services.checkOpen(resource());
            if (end.isOver()) {
                return Response.Conflicted.NO_HINT;
            }
            if (look.obstacle().isPresent()) {
                services.awaitDeletion(resource(), look.obstacle().get(), look.revision(), end);
            }
            look = look.isPlaceLost() ? join() : look();
        }
        return look.outcome().get().response();
    }

    /** Leaves the line. Nobody else grants anything, but a request of this wait without an answer may have. */
    private void giveUp() {
        boolean hasLeft = services.leave(resource(), place, created);
        LockStorageException unanswered = doubt;
        if (unanswered != null) {
            if (!hasLeft) {
                throw unanswered;
            }
            services.transactions().delete(resource(), List.of(keys.hold(request.mode())));
        }
    }

    private String resource() {
        return request.key().resource();
    }

    private static Look ended(Holds.Outcome outcome) {
        return new Look(Optional.of(outcome), false, Optional.empty(), 0);
    }

    /** Tries, and steps into the line by the same request if this store waits for something already. */
    private Look enter() {
        OptionalLong placeLease = services.waiterLease().known(resource());
        if (placeLease.isPresent()) {
            Optional<Look> entered =
                    services.leases().use(resource(), request.ttl(), lease -> enter(lease, placeLease.getAsLong()));
            if (entered.isPresent()) {
                return entered.get();
            }
        }
        Holds.Outcome outcome = services.holds().attempt(request);
        return outcome.response() instanceof Response.Conflicted && !outcome.isHolder() ? join() : ended(outcome);
    }

    /** Nothing if the owner holds something, or the lease of the place is lost. */
    private Optional<Look> enter(ClassLease lease, long placeLease) {
        long beforeNanos = System.nanoTime();
        Duration ttl = lease.within(beforeNanos, request.ttl());
        TxnRequest.Builder join = TxnRequest.newBuilder()
                .addCompare(Ops.absent(keys.hold(LockMode.EXCLUSIVE)))
                .addCompare(Ops.absent(keys.hold(LockMode.SHARED)))
                .addCompare(Ops.absent(place))
                .addAllSuccess(obstacles(Long.MAX_VALUE))
                .addSuccess(Ops.put(place, ByteString.EMPTY, placeLease));
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
            // The place may come later, when nobody knows of it: its lease must end.
            services.waiterLease().forget(placeLease);
            throw e;
        }
        long revision = answer.getHeader().getRevision();
        if (answer.getSucceeded()) {
            return Optional.of(granted(Holds.granted(request.mode(), revision, beforeNanos, ttl)));
        }
        TxnResponse joined = answer.getResponses(0).getResponseTxn();
        if (!joined.getSucceeded()) {
            return Optional.empty();
        }
        created = revision;
        return Optional.of(new Look(Optional.empty(), false, obstacle(joined, 0), revision + 1));
    }

    private RequestOp hold(ClassLease lease, long beforeNanos, Duration ttl) {
        return Ops.put(keys.hold(request.mode()), lease.value(beforeNanos, ttl).bytes(), lease.id());
    }

    /** Steps into the line, and sees who is before it. */
    private Look join() {
        Services.Mark mark = services.mark(resource(), place, Ops.absent(place), obstacles(Long.MAX_VALUE));
        created = mark.created();
        return new Look(Optional.empty(), false, mark.reads().flatMap(answer -> obstacle(answer, 0)), created + 1);
    }

    /** A grant whose answer is lost is found by the next look, for the place is then gone. */
    private Look look() {
        services.waiterLease().id(resource());
        try {
            return services.leases().use(resource(), request.ttl(), this::look);
        } catch (LockStorageException e) {
            if (e.failure() != LockStorageException.Failure.IN_DOUBT || doubt != null) {
                throw e;
            }
            doubt = e;
            return new Look(Optional.empty(), false, Optional.empty(), 0);
        }
    }

    private Look look(ClassLease lease) {
        long beforeNanos = System.nanoTime();
        Duration ttl = lease.within(beforeNanos, request.ttl());
        TxnResponse answer = services.transactions().write(resource(), grant(hold(lease, beforeNanos, ttl)));
        long revision = answer.getHeader().getRevision();
        if (answer.getSucceeded()) {
            return granted(Holds.granted(request.mode(), revision, beforeNanos, ttl));
        }
        if (Transactions.found(keys, answer).isPresent()) {
            return granted(services.holds().save(request));
        }
        boolean isInLine = Transactions.first(answer, 2)
                .filter(found -> found.getCreateRevision() == created)
                .isPresent();
        Optional<KeyRange> obstacle = obstacle(answer, 3);
        if (isInLine && obstacle.isEmpty()) {
            hasWritersBehind = !hasWritersBehind;
        }
        return new Look(Optional.empty(), !isInLine, obstacle, revision + 1);
    }

    private static Look granted(Response response) {
        return ended(new Holds.Outcome(response, true));
    }

    private TxnRequest.Builder grant(RequestOp put) {
        TxnRequest.Builder grant = TxnRequest.newBuilder()
                .addCompare(Ops.createdAt(place, created))
                .addCompare(Ops.noneIn(keys.writers()))
                .addSuccess(Ops.delete(place))
                .addSuccess(put)
                .addAllFailure(Transactions.holds(keys))
                .addFailure(Ops.get(place))
                .addAllFailure(obstacles(created));
        return writes()
                ? grant.addCompare(Ops.noneIn(keys.readers())).addCompare(Ops.noneBefore(keys.queue(), created))
                : grant.addCompare(Ops.noneIn(keys.promoters()))
                        .addCompare(
                                hasWritersBehind
                                        ? Ops.noneBefore(keys.waitingWriters(), created)
                                        : Ops.noneIn(keys.waitingWriters()));
    }

    private boolean writes() {
        return request.mode() == LockMode.EXCLUSIVE;
    }

    /** The reads of who is before a place: readers let each other pass. */
    private List<RequestOp> obstacles(long before) {
        return List.of(
                Ops.lastBefore(writes() ? keys.queue() : keys.waitingWriters(), before),
                Ops.any(keys.writers()),
                Ops.any(writes() ? keys.readers() : keys.promoters()));
    }

    /** The one before in the line, or whatever of holders there is; nothing if all have gone meanwhile. */
    private Optional<KeyRange> obstacle(TxnResponse answer, int firstRead) {
        Optional<KeyValue> predecessor = Transactions.first(answer, firstRead);
        if (predecessor.isPresent()) {
            return predecessor.map(found -> KeyRange.only(found.getKey()));
        }
        if (Transactions.first(answer, firstRead + 1).isPresent()) {
            return Optional.of(keys.writers());
        }
        return Transactions.first(answer, firstRead + 2).map(found -> writes() ? keys.readers() : keys.promoters());
    }
}
