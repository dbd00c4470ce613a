package dev.latchkey.mongodb;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.mongodb.LockCommands.Repetition;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.LocalProcess;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.bson.BsonDocument;

/**
 * Acquires, renews and releases holds, with one command each. A second command, a read, is needed only after a refusal of a key
 * that claims a hold.
 */
final class Holds {

    private final LockCommands documents;
    private final Deployment deployment;
    private final Duration retention;
    private final ServerClock clock;

    Holds(LockCommands documents, Deployment deployment, Duration retention) {
        this.documents = documents;
        this.deployment = deployment;
        this.retention = retention;
        this.clock = new ServerClock(documents);
    }

    Response save(Request request) {
        long number = newNumber();
        LockCommands.Absent absent =
                request.key().held().isEmpty() ? LockCommands.Absent.INSERT : LockCommands.Absent.LEAVE;
        Repetition repetition = Rules.mayBeRepeated(request) ? Repetition.ALLOWED : Repetition.NEVER;
        return ask(request, number, Rules.save(request), absent, repetition);
    }

    Response refresh(Request request) {
        long number = newNumber();
        Repetition repetition = Rules.mayBeRepeated(request) ? Repetition.ALLOWED : Repetition.NEVER;
        Response response = ask(request, number, Rules.refresh(request), LockCommands.Absent.LEAVE, repetition);
        return response instanceof Response.Granted || response instanceof Response.Lost
                ? response
                : new Response.Lost(LossReason.EXPIRED);
    }

    /** The number by which a call recognizes its grant, even if the command was repeated. */
    private static long newNumber() {
        return ThreadLocalRandom.current().nextLong();
    }

    private Response ask(
            Request request, long number, BsonDocument rule, LockCommands.Absent absent, Repetition repetition) {
        deployment.check(request.key().resource());
        List<BsonDocument> change = RuleArguments.of(
                        request, number, LocalProcess.description(), retention, deployment.skew())
                .applied(rule);
        long since = System.nanoTime();
        Optional<LockDocument> after = documents.change(request.key().resource(), change, absent, repetition);
        if (after.isEmpty()) {
            return new Response.Lost(LossReason.EXPIRED);
        }
        Optional<Response> granted = after.get()
                .own(request.key())
                .filter(own -> own.request() == number)
                .map(own -> granted(own, after.get(), request, since));
        return granted.orElseGet(() -> refused(request, number, after.get()));
    }

    private static Response granted(LockDocument.Own own, LockDocument after, Request request, long since) {
        // A promotion keeps the lease; a renewal counts on the TTL that it asked for, even if the lease lasts longer.
        boolean lastsLonger = own.mode() == LockMode.EXCLUSIVE
                && Rules.claimedToken(request.key()).isEmpty()
                && after.grantedFor().compareTo(request.ttl().plusMillis(1)) > 0;
        Duration ttl = lastsLonger ? after.grantedFor() : request.ttl();
        return new Response.Granted(own.mode(), own.fencingToken(), Lease.timed(since, ttl));
    }

    private Response refused(Request request, long number, LockDocument after) {
        boolean isPlain =
                request.key().held().isEmpty() && after.own(request.key()).isEmpty();
        return isPlain || after.isMarkedBy(number)
                ? conflict(request, after)
                : judge(request, documents.read(request.key().resource()));
    }

    /** Returns why a key that claims or has a hold was refused. */
    private Response judge(Request request, Optional<LockDocument> looked) {
        if (looked.isEmpty()) {
            return new Response.Lost(LossReason.EXPIRED);
        }
        LockDocument now = looked.get();
        Key key = request.key();
        boolean reads = now.own(key)
                .filter(own -> own.mode() == LockMode.SHARED && now.isLive(own))
                .isPresent();
        if (key.held().isPresent() && (!reads || Rules.claimedToken(key).isPresent())) {
            return new Response.Lost(now.reasonOfLoss(key));
        }
        boolean wouldDeadlock = reads && request.retryIntent() == RetryIntent.AGAIN && now.isPromotedByAnother(key);
        return wouldDeadlock ? new Response.Refused() : conflict(request, now);
    }

    private Response conflict(Request request, LockDocument after) {
        return after.expiresAt().isEmpty()
                ? Response.Conflicted.NO_HINT
                : new Response.Conflicted(clock.until(
                        after.expiresAt().getAsLong() + deployment.skew().toMillis(),
                        request.key().resource()));
    }

    boolean delete(Key key) {
        return documents.release(key, RuleArguments.of(key, retention).applied(Rules.delete()));
    }

    boolean forceRelease(String resource, long fencingToken) {
        List<BsonDocument> stages =
                RuleArguments.of(Key.of(resource), retention).applied(Rules.end());
        return documents.end(resource, fencingToken, stages);
    }

    List<Holder> holders(String resource) {
        return documents.read(resource).map(LockDocument::holders).orElse(List.of());
    }

    Optional<Response.Granted> find(Key key) {
        long since = System.nanoTime();
        return documents
                .read(key.resource())
                .flatMap(looked -> looked.own(key)
                        .filter(looked::isLive)
                        .map(own -> new Response.Granted(
                                own.mode(), own.fencingToken(), Lease.timed(since, looked.remaining(own)))));
    }
}
