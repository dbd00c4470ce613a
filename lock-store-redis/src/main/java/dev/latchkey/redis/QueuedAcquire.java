package dev.latchkey.redis;

import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One acquire that may wait, on the thread of its caller. The first request acquires the lock or joins the queue. The thread
 * then handles events: the answer, a grant, the hint to ask again, the end of the wait. When it is time, or after a hint, it
 * asks again with its ticket.
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
 *   <li>A waiter behind others of this store asks later: see {@link LocalQueues}.
 *   <li>Asking again finds what a lost message would have told, shows that the waiter lives, and restores its place if the
 *       server has forgotten it.
 * </ol>
 */
final class QueuedAcquire {

    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long OVERSLEPT_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    /** Something that happened; handled by the thread that waits. */
    private interface Event {

        /** Returns what ends the wait; null if it goes on. */
        @Nullable Response handle();
    }

    private final ScriptRunner server;
    private final Requests requests;
    private final Request request;
    private final String attempt;
    private final WaiterSubscription subscription;
    private final QueueExit exit;
    private final LocalQueues.Place home;
    private final long endNanos;
    private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();

    /** The request in flight; and how the queue is to notify this waiter, as that request says. */
    private ScriptRunner.@Nullable Sent sent;

    private NotificationChannel.Push sentPush = NotificationChannel.Push.NONE;
    private long answerByNanos;

    private boolean askAgain;
    private long nextNanos;

    /** When the first of the requests that failed in a row was sent. */
    private @Nullable Long failingSinceNanos;

    /** How the queue notifies this waiter, as of the last answer. */
    private NotificationChannel.Push push = NotificationChannel.Push.NONE;

    private long ticket;
    private @Nullable QueuePosition place;
    private @Nullable Grant early;
    private boolean mayHaveTrace;
    private boolean isGranted;
    private boolean isGrantedInTurn;

    QueuedAcquire(
            ScriptRunner server,
            Requests requests,
            LazyNotificationChannel inbox,
            LocalQueues local,
            Request request,
            String attempt,
            Duration maxWait) {
        this.server = server;
        this.requests = requests;
        this.home = local.place(request, this::wakeUp);
        this.request = request;
        this.attempt = attempt;
        this.subscription = new WaiterSubscription(inbox, request.key().resource());
        this.exit = new QueueExit(server, requests, request, attempt);
        this.endNanos = System.nanoTime() + maxWait.toNanos();
    }

    String attempt() {
        return attempt;
    }

    String resource() {
        return request.key().resource();
    }

    String token() {
        return request.key().token();
    }

    boolean isGranted() {
        return isGranted;
    }

    /** Whether it was granted from the queue. Others may then wait behind it. */
    boolean isGrantedInTurn() {
        return isGrantedInTurn;
    }

    /** Called from any thread, as the three methods below it: the server has granted the lock to this waiter. */
    void granted(Grant grant) {
        events.add(() -> onGrant(grant));
    }

    /** Something may have changed, or a message may have been missed. */
    void askAgain() {
        events.add(this::onHint);
    }

    /** The same from the reply to a release, and what place it had then, if it had none before. */
    void granted(Grant grant, QueuePosition position) {
        events.add(() -> {
            home.noteTime(position);
            place = place == null && sent == null ? position : place;
            return onGrant(grant);
        });
    }

    /** A release has put this waiter into the queue. */
    void queued(QueuePosition position, long millisToLeaseEnd) {
        events.add(() -> onQueuedByRelease(position, millisToLeaseEnd));
    }

    /** It has to ask now, unless it has an answer. */
    private void wakeUp() {
        events.add(() -> place == null && sent == null ? onHint() : null);
    }

    /** The caller no longer wants the lock. */
    private void withdraw() {
        events.add(() -> Response.Conflicted.NO_HINT);
    }

    /** The store is closed. */
    void fail() {
        events.add(() -> {
            throw server.failures().closed(resource());
        });
    }

    /**
     * Joins the waiters of this store.
     *
     * @return whether the first request is to be sent now
     * @throws InterruptedException if the thread was interrupted before
     */
    boolean join(CompletionStage<?> withdrawn) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        withdrawn.thenRun(this::withdraw);
        subscription.openNow();
        push = subscription.push();
        sentPush = push;
        boolean isAtHome =
                home.join(Requests.member(request, attempt, push), server.link().generation());
        nextNanos = endNanos - home.homeUntilNanos() > 0 ? home.homeUntilNanos() : endNanos;
        return !isAtHome;
    }

    ScriptRequest nextRequest() {
        NotificationChannel.Push now = subscription.push();
        ticket = ticket == 0 ? home.ticket(server.link().generation()) : ticket;
        askAgain = false;
        mayHaveTrace = true;
        sentPush = now;
        return push == now
                ? requests.acquire(request, attempt, ticket, now)
                : requests.acquireListening(request, attempt, ticket, now);
    }

    /** Notes that a request was sent. */
    void sent(ScriptRunner.Sent now) {
        sent = now;
        answerByNanos = now.sinceNanos() + server.limit().toNanos();
        var unused = now.answer().whenComplete((reply, failure) -> events.add(() -> onAnswer(now, reply, failure)));
    }

    /** Waits until an event ends the wait. Anything but a grant may leave a trace on the server. */
    Response await() throws InterruptedException {
        while (true) {
            Event event = events.poll(nanosToNextStep(), TimeUnit.NANOSECONDS);
            Response response = event == null ? onTime() : event.handle();
            if (response != null) {
                isGranted = response instanceof Response.Granted;
                mayHaveTrace &= !isGranted;
                return response;
            }
            if (askAgain && sent == null && mayAsk()) {
                sent(server.send(nextRequest()));
            }
        }
    }

    private boolean mayAsk() {
        boolean isTakenAlong = !home.mayAsk();
        if (isTakenAlong) {
            // Whoever releases wakes this waiter.
            nextNanos = System.nanoTime() + server.limit().toNanos();
        }
        return !isTakenAlong;
    }

    private long nanosToNextStep() {
        long now = System.nanoTime();
        long step = sent == null ? nextNanos : answerByNanos;
        // The first answer is waited for in any case: the lock may be free, and no answer is no conflict.
        return Math.max(0, place == null ? step - now : Math.min(step - now, endNanos - now));
    }

    private @Nullable Response onTime() {
        long now = System.nanoTime();
        ScriptRunner.Sent late = sent;
        if (late != null && now - answerByNanos >= 0) {
            onSilence(late, now);
        }
        if (endNanos - now <= 0 && place != null) {
            return Response.Conflicted.NO_HINT;
        }
        askAgain |= sent == null && nextNanos - now <= 0;
        return null;
    }

    /** If this process slept as well, the answer may be here, and nobody has read it yet. */
    private void onSilence(ScriptRunner.Sent late, long now) {
        if (now - answerByNanos > OVERSLEPT_NANOS) {
            answerByNanos = now + server.limit().toNanos();
        } else {
            sent = null;
            late.answer().cancel(false);
            throw server.noAnswer(resource());
        }
    }

    private @Nullable Response onHint() {
        askAgain = true;
        return null;
    }

    /** The subscription is confirmed, or has failed. */
    private @Nullable Response onSubscribed(NotificationChannel.Push now) {
        subscription.opened(now);
        askAgain |= push != subscription.push();
        return null;
    }

    private @Nullable Response onAnswer(
            ScriptRunner.Sent answered, @Nullable List<Long> reply, @Nullable Throwable failure) {
        if (!answered.equals(sent)) {
            return null;
        }
        sent = null;
        if (reply == null) {
            onFailure(answered, failure == null ? new IllegalStateException("no answer") : failure);
            return null;
        }
        failingSinceNanos = null;
        if (ReplyParser.isQueued(reply)) {
            return onQueued(answered, reply);
        }
        isGrantedInTurn = place != null;
        return ReplyParser.response(reply, request, answered.sinceNanos());
    }

    private @Nullable Response onQueued(ScriptRunner.Sent answered, List<Long> reply) {
        ticket = reply.get(1);
        var position = new QueuePosition(answered.sinceNanos(), reply.get(2), answered.generation());
        return onQueued(position, reply.get(3), reply.get(4));
    }

    private @Nullable Response onQueuedByRelease(QueuePosition position, long millisToLeaseEnd) {
        if (sent != null || place != null) {
            // It has asked since.
            return null;
        }
        long arrival = home.ticket(position.generation());
        ticket = arrival == 0 ? position.serverMicros() : Math.min(arrival, position.serverMicros());
        return onQueued(position, Requests.UNKNOWN_RANK, millisToLeaseEnd);
    }

    private @Nullable Response onQueued(QueuePosition position, long rank, long millisToLeaseEnd) {
        place = position;
        home.noteTime(position);
        push = sentPush;
        subscription.open(now -> events.add(() -> onSubscribed(now)));
        nextNanos = System.nanoTime()
                + TimeUnit.MILLISECONDS.toNanos(Requests.pauseMillis(request, push, rank, millisToLeaseEnd));
        Grant waiting = early;
        early = null;
        return waiting == null ? null : onGrant(waiting);
    }

    private void onFailure(ScriptRunner.Sent failed, Throwable cause) {
        boolean passing = Failures.isConnection(cause) || Failures.isPassing(cause);
        // Not since the last answer: requests are seconds apart, and one that fails is no reason to give up.
        long since = failingSinceNanos == null ? failed.sinceNanos() : failingSinceNanos;
        failingSinceNanos = since;
        if (!passing || System.nanoTime() - since > server.limit().toNanos()) {
            throw server.failures().of(resource(), cause);
        }
        place = place == null ? null : place.outdated();
        early = null;
        askAgain = false;
        nextNanos = System.nanoTime() + RETRY_NANOS;
    }

    private @Nullable Response onGrant(Grant grant) {
        if (sent != null) {
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

    /** Leaves nothing on the server: uninterruptibly, but not for longer than the command timeout. */
    void leave() {
        ScriptRunner.Sent last = sent;
        if (last != null) {
            // First: a server that does not know the script must not be sent its text after the cancel.
            last.answer().cancel(false);
        }
        mayHaveTrace |= !isGranted && home.awaitAnswer(server.limit());
        home.leave(isGranted);
        try {
            if (mayHaveTrace) {
                exit.leave();
            }
        } catch (RuntimeException e) {
            // Nobody else would give up what it is granted, or was while the server did not answer.
            exit.giveBack();
            throw e;
        } finally {
            subscription.close();
        }
    }

    /** Gives back what was granted after the wait had ended. */
    void giveBack() {
        exit.giveBack();
    }
}
