package dev.latchkey.redis;

import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What one waiter knows, and what follows from what happens. Used by the thread that waits.
 *
 * <ol>
 *   <li>A waiter that cannot be notified yet asks first, because most locks are free. Once queued, it subscribes, polls until
 *       the subscription is confirmed, and then tells the queue so without losing its place.
 *   <li>A hold that a reply grants counts from before the request was sent.
 *   <li>A hold that a message grants counts from a time after the last request: as much later as the server says that the grant
 *       came after its answer. If the process was frozen in between, the lease is therefore over already. A grant that the
 *       reply to a release of this store tells counts from before that release was sent.
 *   <li>A message that overtakes a reply waits for it. After a lost connection, or a request that failed, a message is only a
 *       hint, because its time may be that of another server.
 *   <li>Asking again finds what a lost message would have told, shows that the waiter lives, and restores its place if the
 *       server has forgotten it.
 * </ol>
 */
final class WaitProgress {

    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private final ScriptRunner server;
    private final AttemptRequests requests;
    private final Request request;
    private final WaiterSubscription subscription;
    private final LocalQueues.Place home;
    private final RequestInFlight inFlight;
    private final long endNanos;

    /** How the queue is to notify this waiter, as the last request says. */
    private NotificationChannel.Push sentPush = NotificationChannel.Push.NONE;

    /** How the queue notifies this waiter, as of the last answer. */
    private NotificationChannel.Push push = NotificationChannel.Push.NONE;

    private boolean askAgain;
    private long nextNanos;
    private long ticket;
    private @Nullable QueuePosition place;
    private @Nullable Grant early;
    private boolean isGrantedInTurn;

    WaitProgress(
            ScriptRunner server,
            AttemptRequests requests,
            WaiterSubscription subscription,
            LocalQueues.Place home,
            Duration maxWait) {
        this.server = server;
        this.requests = requests;
        this.request = requests.request();
        this.subscription = subscription;
        this.home = home;
        this.inFlight = new RequestInFlight(server);
        this.endNanos = System.nanoTime() + maxWait.toNanos();
    }

    /** No thread waits: see {@link RequestInFlight#outlastOthers}. */
    void waitWithoutThread() {
        inFlight.outlastOthers();
    }

    /** Whether it was granted from the queue. */
    boolean isGrantedInTurn() {
        return isGrantedInTurn;
    }

    /** Whether it has had a place in the queue on the server. */
    boolean isQueued() {
        return place != null;
    }

    /** Notes that the waiter has joined those of its store. If it is at home, it asks when that is over, or its wait is. */
    void join() {
        push = subscription.push();
        sentPush = push;
        nextNanos = endNanos - home.homeUntilNanos() > 0 ? home.homeUntilNanos() : endNanos;
    }

    ScriptRequest nextRequest() {
        NotificationChannel.Push now = subscription.push();
        ticket = ticket == 0 ? home.ticket(server.link().generation()) : ticket;
        askAgain = false;
        sentPush = now;
        return push == now ? requests.acquire(ticket, now) : requests.acquireListening(ticket, now);
    }

    void sent(ScriptRunner.Sent now) {
        inFlight.sent(now);
    }

    void giveUpRequest() {
        inFlight.giveUp();
    }

    /** Whether the next request is to be sent now. Not while a release takes this waiter along: whoever releases has it ask. */
    boolean isToAsk() {
        if (!askAgain || inFlight.isThere()) {
            return false;
        }
        boolean mayAsk = home.mayAsk();
        if (!mayAsk) {
            nextNanos = System.nanoTime() + server.limit().toNanos();
        }
        return mayAsk;
    }

    long nanosToNextStep() {
        long now = System.nanoTime();
        long step = inFlight.isThere() ? inFlight.answerByNanos() : nextNanos;
        // The first answer is waited for in any case: the lock may be free, and no answer is no conflict.
        return Math.max(0, place == null ? step - now : Math.min(step - now, endNanos - now));
    }

    @Nullable Response onTime() {
        long now = System.nanoTime();
        inFlight.checkTime(now);
        if (endNanos - now <= 0 && place != null) {
            return Response.Conflicted.NO_HINT;
        }
        askAgain |= !inFlight.isThere() && nextNanos - now <= 0;
        return null;
    }

    @Nullable Response onHint() {
        askAgain = true;
        return null;
    }

    /** Nobody takes it along: it has to ask, unless it has done so. */
    @Nullable Response onLeaveHome() {
        askAgain |= place == null && !inFlight.isThere();
        return null;
    }

    /** The subscription is confirmed, or has failed. */
    @Nullable Response onSubscribed(NotificationChannel.Push now) {
        subscription.opened(now);
        askAgain |= push != subscription.push();
        return null;
    }

    @Nullable Response onAnswer(ScriptRunner.Sent answered, @Nullable List<Long> reply, @Nullable Throwable failure) {
        if (!inFlight.takeAnswer(answered)) {
            return null;
        }
        if (reply == null) {
            onFailure(answered, failure == null ? new IllegalStateException("no answer") : failure);
            return null;
        }
        inFlight.succeeded();
        if (ReplyParser.isQueued(reply)) {
            ticket = reply.get(1);
            var position = new QueuePosition(answered.sinceNanos(), reply.get(2), answered.generation());
            onQueued(position, reply.get(3), reply.get(4));
            Grant waiting = early;
            early = null;
            return waiting == null ? null : onGrant(waiting);
        }
        isGrantedInTurn = place != null;
        return ReplyParser.response(reply, request, answered.sinceNanos());
    }

    /** A release has put this waiter into the queue, unless it has asked since. */
    void onQueuedByRelease(QueuePosition position, long millisToLeaseEnd) {
        if (!inFlight.isThere() && place == null) {
            long arrival = home.ticket(position.generation());
            ticket = arrival == 0 ? position.serverMicros() : Math.min(arrival, position.serverMicros());
            onQueued(position, Requests.UNKNOWN_RANK, millisToLeaseEnd);
        }
    }

    private void onQueued(QueuePosition position, long rank, long millisToLeaseEnd) {
        place = position;
        home.noteTicket(ticket, position);
        push = sentPush;
        nextNanos = System.nanoTime()
                + TimeUnit.MILLISECONDS.toNanos(Requests.pauseMillis(request, push, rank, millisToLeaseEnd));
    }

    private void onFailure(ScriptRunner.Sent failed, Throwable cause) {
        inFlight.failed(failed, cause);
        place = place == null ? null : place.outdated();
        early = null;
        askAgain = false;
        nextNanos = System.nanoTime() + RETRY_NANOS;
    }

    /** Granted by the reply to a release, to one that may have had no place in the queue until then. */
    @Nullable Response onGrant(Grant grant, QueuePosition position) {
        home.noteTime(position);
        place = place == null && !inFlight.isThere() ? position : place;
        return onGrant(grant);
    }

    @Nullable Response onGrant(Grant grant) {
        if (inFlight.isThere()) {
            early = grant;
            return null;
        }
        QueuePosition last = place;
        if (last == null || !last.canDate(grant, server.link().generation())) {
            askAgain = true;
            return null;
        }
        isGrantedInTurn = true;
        return ReplyParser.granted(
                request.mode(), grant.fence(), last.since(grant), Duration.ofMillis(grant.ttlMillis()));
    }
}
