package dev.latchkey.redis;

import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One acquire that may wait, on the thread of its caller, or step by step. The first request acquires the lock or joins the queue. Then come
 * events: the answer, a grant, the hint to ask again, the end of the wait. When it is time, or after a hint, it
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
 *   <li>Asking again finds what a lost message would have told, shows that the waiter lives, and restores its place if the
 *       server has forgotten it.
 * </ol>
 */
final class QueuedAcquire implements Waiter {

    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long OVERSLEPT_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    /** Something that happened; handled by the thread that waits. */
    private interface Event {

        /** Returns what ends the wait; null if it goes on. */
        @Nullable Response handle();
    }

    private final ScriptRunner server;
    private final AttemptRequests requests;
    private final Request request;
    private final WaiterSubscription subscription;
    private final QueueExit exit;
    private final long endNanos;
    private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();

    /** Nobody has to be told while a thread waits for events. */
    private volatile Runnable onEvent = () -> {};

    private volatile boolean isThreadless;

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
            AttemptRequests requests,
            LazyNotificationChannel inbox,
            Request request,
            Duration maxWait) {
        this.server = server;
        this.requests = requests;
        this.request = request;
        this.subscription = new WaiterSubscription(inbox, requests.resource());
        this.exit = new QueueExit(server, requests, request.ttl());
        this.endNanos = System.nanoTime() + maxWait.toNanos();
    }

    @Override
    public String attempt() {
        return requests.attempt();
    }

    @Override
    public String resource() {
        return requests.resource();
    }

    @Override
    public String token() {
        return request.key().token();
    }

    @Override
    public boolean isGranted() {
        return isGranted;
    }

    @Override
    public boolean isGrantedInTurn() {
        return isGrantedInTurn;
    }

    /** Has somebody called whenever something happens, from any thread, who then has a step made. */
    void whenSomethingHappens(Runnable listener) {
        isThreadless = true;
        onEvent = listener;
    }

    private void happened(Event event) {
        events.add(event);
        onEvent.run();
    }

    @Override
    public void granted(Grant grant) {
        happened(() -> onGrant(grant));
    }

    @Override
    public void askAgain() {
        happened(this::onHint);
    }

    /** The caller no longer wants the lock. Called from any thread. */
    void withdraw() {
        happened(() -> Response.Conflicted.NO_HINT);
    }

    @Override
    public void fail() {
        happened(() -> {
            throw server.failures().closed(resource());
        });
    }

    ScriptRequest firstRequest() {
        subscription.openNow();
        push = subscription.push();
        return nextRequest();
    }

    private ScriptRequest nextRequest() {
        NotificationChannel.Push now = subscription.push();
        askAgain = false;
        mayHaveTrace = true;
        sentPush = now;
        return push == now ? requests.acquire(ticket, now) : requests.acquireListening(ticket, now);
    }

    /** Notes that a request was sent. */
    void sent(ScriptRunner.Sent now) {
        sent = now;
        answerByNanos = now.sinceNanos() + server.limit().toNanos();
        var unused = now.answer().whenComplete((reply, failure) -> happened(() -> onAnswer(now, reply, failure)));
    }

    /** Waits until an event ends the wait. Anything but a grant may leave a trace on the server. */
    Response await() throws InterruptedException {
        Response response = null;
        while (response == null) {
            response = handled(events.poll(nanosToNextStep(), TimeUnit.NANOSECONDS));
            if (response == null && askAgain && sent == null) {
                sent(server.send(nextRequest()));
            }
        }
        return response;
    }

    /** Handles all that has happened, without waiting for more; null if the wait goes on. As {@link #await} otherwise. */
    @Nullable Response step() {
        Event event;
        Response response;
        do {
            event = events.poll();
            response = handled(event);
            if (response == null && askAgain && sent == null) {
                sent(server.send(nextRequest()));
            }
        } while (response == null && event != null);
        return response;
    }

    private @Nullable Response handled(@Nullable Event event) {
        Response response = event == null ? onTime() : event.handle();
        if (response != null) {
            isGranted = response instanceof Response.Granted;
            mayHaveTrace &= !isGranted;
        }
        return response;
    }

    long nanosToNextStep() {
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

    /**
     * If this process slept as well, the answer may be here, and nobody has read it yet. Of thousands of waiters that ask at once, the
     * last are answered when those before them were: no thread waits for that.
     */
    private void onSilence(ScriptRunner.Sent late, long now) {
        long limit = server.limit().toNanos();
        long heard = isThreadless ? server.link().heardInOrderNanos().orElse(late.sinceNanos()) : late.sinceNanos();
        if (now - answerByNanos > OVERSLEPT_NANOS) {
            answerByNanos = now + limit;
        } else if (heard - late.sinceNanos() > 0 && now - heard < limit) {
            answerByNanos = heard + limit;
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
        place = new QueuePosition(answered.sinceNanos(), reply.get(2), answered.generation());
        push = sentPush;
        subscription.open(now -> happened(() -> onSubscribed(now)));
        nextNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(pause(reply.get(3), reply.get(4)));
        Grant waiting = early;
        early = null;
        return waiting == null ? null : onGrant(waiting);
    }

    /** The first in the queue notice the end of a lease, one after the other; the rest only poll as a safety net. */
    private long pause(long rank, long millisToLeaseEnd) {
        if (push == NotificationChannel.Push.NONE) {
            return ThreadLocalRandom.current().nextLong(20, 101);
        }
        long poll = Requests.pollMillis(request, push);
        long position = rank < 0 ? 2 : rank;
        return position > 2 || millisToLeaseEnd <= 0 ? poll : Math.min(poll, millisToLeaseEnd + 1 + 30 * position);
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

    @Override
    public void leave() {
        ScriptRunner.Sent last = sent;
        if (last != null) {
            // First: a server that does not know the script must not be sent its text after the cancel.
            last.answer().cancel(false);
        }
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

    @Override
    public void giveBack() {
        exit.giveBack();
    }
}
