package dev.latchkey.mongodb;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.mongodb.Documents.Repetition;
import dev.latchkey.spi.Attempt;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Patience;
import dev.latchkey.spi.Request;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.bson.BsonDocument;

/**
 * Takes, renews and gives up holds, by one command each. Only what a refusal means for somebody who held something before
 * takes a second one: a look.
 */
final class Holds {

    private final Documents documents;
    private final Deployment deployment;
    private final Duration retention;
    private final ServerClock clock;

    Holds(Documents documents, Deployment deployment, Duration retention) {
        this.documents = documents;
        this.deployment = deployment;
        this.retention = retention;
        this.clock = new ServerClock(documents);
    }

    Attempt save(Request request) {
        long number = newNumber();
        Documents.Absent absent = request.key().held().isEmpty() ? Documents.Absent.INSERT : Documents.Absent.LEAVE;
        Repetition repetition = Rules.mayBeRepeated(request) ? Repetition.ALLOWED : Repetition.NEVER;
        return ask(request, number, Rules.save(request), absent, repetition);
    }

    Attempt refresh(Request request) {
        long number = newNumber();
        Repetition repetition = request.leaseChange() == LeaseChange.EXTEND ? Repetition.ALLOWED : Repetition.NEVER;
        Attempt attempt = ask(request, number, Rules.refresh(request), Documents.Absent.LEAVE, repetition);
        return attempt instanceof Attempt.Granted || attempt instanceof Attempt.Lost
                ? attempt
                : new Attempt.Lost(LossReason.EXPIRED);
    }

    /** By it a call finds what it was granted, also when the driver or we had it done twice. */
    private static long newNumber() {
        return ThreadLocalRandom.current().nextLong();
    }

    private Attempt ask(
            Request request, long number, BsonDocument rule, Documents.Absent absent, Repetition repetition) {
        deployment.check(request.key().resource());
        List<BsonDocument> change = Arguments.of(
                        request, number, ThisProcess.description(), retention, deployment.skew())
                .applied(rule);
        long since = System.nanoTime();
        Optional<Holding> after = documents.change(request.key().resource(), change, absent, repetition);
        if (after.isEmpty()) {
            return new Attempt.Lost(LossReason.EXPIRED);
        }
        Optional<Attempt> granted = after.get()
                .own(request.key())
                .filter(own -> own.request() == number)
                .map(own -> granted(own, after.get(), request, since));
        return granted.orElseGet(() -> refused(request, number, after.get()));
    }

    private static Attempt granted(Holding.Own own, Holding after, Request request, long since) {
        // Who promotes keeps what it had; who renews believes in what it asked for, however much more is left.
        boolean lastsLonger = own.mode() == LockMode.EXCLUSIVE
                && Rules.claimedToken(request.key()).isEmpty()
                && after.grantedFor().compareTo(request.ttl().plusMillis(1)) > 0;
        Duration ttl = lastsLonger ? after.grantedFor() : request.ttl();
        return new Attempt.Granted(own.mode(), own.fencingToken(), Lease.timed(since, ttl));
    }

    private Attempt refused(Request request, long number, Holding after) {
        boolean isPlain =
                request.key().held().isEmpty() && after.own(request.key()).isEmpty();
        return isPlain || after.isMarkedBy(number)
                ? conflict(request, after)
                : judge(request, documents.read(request.key().resource()));
    }

    /** Why somebody who claims a hold, or has one, was refused. */
    private Attempt judge(Request request, Optional<Holding> looked) {
        if (looked.isEmpty()) {
            return new Attempt.Lost(LossReason.EXPIRED);
        }
        Holding now = looked.get();
        Key key = request.key();
        boolean reads = now.own(key)
                .filter(own -> own.mode() == LockMode.SHARED && now.isLive(own))
                .isPresent();
        if (key.held().isPresent() && (!reads || Rules.claimedToken(key).isPresent())) {
            return new Attempt.Lost(now.reasonOfLoss(key));
        }
        boolean wouldDeadlock = reads && request.patience() == Patience.AGAIN && now.isPromotedByAnother(key);
        return wouldDeadlock ? new Attempt.Refused() : conflict(request, now);
    }

    private Attempt conflict(Request request, Holding after) {
        return after.expiresAt().isEmpty()
                ? Attempt.Conflicted.NO_HINT
                : new Attempt.Conflicted(clock.until(
                        after.expiresAt().getAsLong() + deployment.skew().toMillis(),
                        request.key().resource()));
    }

    boolean delete(Key key) {
        return documents.release(key, Arguments.of(key, retention).applied(Rules.delete()));
    }

    List<Holder> holders(String resource) {
        return documents
                .read(resource)
                .map(looked -> looked.live().stream()
                        .map(own -> new Holder(
                                own.mode(),
                                own.fencingToken(),
                                Optional.of(looked.remaining(own)),
                                Optional.of(own.holder())))
                        .toList())
                .orElse(List.of());
    }

    Optional<Attempt.Granted> find(Key key) {
        long since = System.nanoTime();
        return documents
                .read(key.resource())
                .flatMap(looked -> looked.own(key)
                        .filter(looked::isLive)
                        .map(own -> new Attempt.Granted(
                                own.mode(), own.fencingToken(), Lease.timed(since, looked.remaining(own)))));
    }
}
