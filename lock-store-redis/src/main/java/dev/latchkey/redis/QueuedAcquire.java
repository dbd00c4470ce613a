package dev.latchkey.redis;

import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One acquire that may wait, on the thread of its caller, or step by step. The first request acquires the lock or joins the queue. Then come
 * events: the answer, a grant, the hint to ask again, the end of the wait. {@link WaitProgress} says what follows from each. When it is
 * time, or after a hint, the waiter asks again with its ticket. A waiter behind others of this store asks later: see {@link LocalQueues}.
 */
final class QueuedAcquire implements Waiter {

    /** Something that happened; handled by the thread that waits. */
    private interface Event {

        /** Returns what ends the wait; null if it goes on. */
        @Nullable Response handle();
    }

    private final ScriptRunner server;
    private final AttemptRequests requests;
    private final WaiterSubscription subscription;
    private final QueueExit exit;
    private final LocalQueues.Place home;
    private final WaitProgress progress;
    private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();

    /** Nobody has to be told while a thread waits for events. */
    private volatile Runnable onEvent = () -> {};

    private boolean mayHaveTrace;
    private boolean isGranted;

    /** @param home its place among the waiters of this store */
    QueuedAcquire(
            ScriptRunner server,
            AttemptRequests requests,
            LazyNotificationChannel inbox,
            LocalQueues.Place home,
            Duration maxWait) {
        this.server = server;
        this.requests = requests;
        this.home = home;
        this.subscription = new WaiterSubscription(inbox, requests.resource());
        this.exit = new QueueExit(server, requests, requests.request().ttl());
        this.progress = new WaitProgress(server, requests, subscription, home, maxWait);
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
        return requests.request().key().token();
    }

    @Override
    public boolean isGranted() {
        return isGranted;
    }

    @Override
    public boolean isGrantedInTurn() {
        return progress.isGrantedInTurn();
    }

    /** Has somebody called whenever something happens, from any thread, who then has a step made. */
    void whenSomethingHappens(Runnable listener) {
        progress.waitWithoutThread();
        onEvent = listener;
    }

    private void happened(Event event) {
        events.add(event);
        onEvent.run();
    }

    @Override
    public void granted(Grant grant) {
        happened(() -> progress.onGrant(grant));
    }

    @Override
    public void granted(Grant grant, QueuePosition position) {
        happened(() -> progress.onGrant(grant, position));
    }

    @Override
    public void queued(QueuePosition position, long millisToLeaseEnd) {
        happened(() -> {
            progress.onQueuedByRelease(position, millisToLeaseEnd);
            return subscribed();
        });
    }

    @Override
    public void askAgain() {
        happened(progress::onHint);
    }

    @Override
    public void leaveHome() {
        happened(progress::onLeaveHome);
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

    /** Joins the waiters of this store. Returns whether the first request is to be sent now: nobody is before this one. */
    boolean join() {
        subscription.openNow();
        boolean isAtHome = home.join(this, subscription.push(), server.link().generation());
        progress.join();
        return !isAtHome;
    }

    ScriptRequest nextRequest() {
        mayHaveTrace = true;
        return progress.nextRequest();
    }

    /** Notes that a request was sent. */
    void sent(ScriptRunner.Sent now) {
        progress.sent(now);
        var unused = now.answer().whenComplete((reply, failure) -> happened(() -> onAnswer(now, reply, failure)));
    }

    private @Nullable Response onAnswer(
            ScriptRunner.Sent answered, @Nullable List<Long> reply, @Nullable Throwable failure) {
        Response response = progress.onAnswer(answered, reply, failure);
        return response == null ? subscribed() : response;
    }

    /** Subscribes once it has a place in the queue, and always goes on waiting. */
    private @Nullable Response subscribed() {
        if (progress.isQueued()) {
            subscription.open(how -> happened(() -> progress.onSubscribed(how)));
        }
        return null;
    }

    /** Waits until an event ends the wait. Anything but a grant may leave a trace on the server. */
    Response await() throws InterruptedException {
        Response response = null;
        while (response == null) {
            response = handled(events.poll(nanosToNextStep(), TimeUnit.NANOSECONDS));
            if (response == null && progress.isToAsk()) {
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
            if (response == null && progress.isToAsk()) {
                sent(server.send(nextRequest()));
            }
        } while (response == null && event != null);
        return response;
    }

    private @Nullable Response handled(@Nullable Event event) {
        Response response = event == null ? progress.onTime() : event.handle();
        if (response != null) {
            isGranted = response instanceof Response.Granted;
            mayHaveTrace &= !isGranted;
        }
        return response;
    }

    long nanosToNextStep() {
        return progress.nanosToNextStep();
    }

    @Override
    public void leave() {
        // First: a server that does not know the script must not be sent its text after the cancel.
        progress.giveUpRequest();
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

    @Override
    public void giveBack() {
        exit.giveBack();
    }
}
