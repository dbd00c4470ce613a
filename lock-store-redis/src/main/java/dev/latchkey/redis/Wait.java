package dev.latchkey.redis;

import dev.latchkey.spi.Attempt;
import dev.latchkey.spi.Request;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One call that waits, on the thread of its caller: it asks for a place in the queue, listens, and asks again now and then.
 *
 * <ol>
 *   <li>A reply that grants counts from before its request was sent.
 *   <li>A message that grants counts by the server's own clock: as much later than the last request as the server says that
 *       the grant came after the answer. A caller that was frozen in between computes a lease that is over already.
 *   <li>A message that overtakes a reply waits for it. After a lost connection it is only a hint, for its time may be that
 *       of another server.
 *   <li>Asking again with the ticket finds what a lost message would have told, shows that the waiter lives, and keeps its
 *       place if the server has forgotten it.
 * </ol>
 */
final class Wait {

    private static final long MAX_POLL_MILLIS = 5_000;
    private static final long MIN_POLL_MILLIS = 100;
    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    /** A place in the queue, as of the last answer. */
    private record Place(long sinceNanos, long serverMicros, int generation) {}

    private final Server server;
    private final Request request;
    private final byte[] key;
    private final Requests requests;
    private final String attempt;
    private final long endNanos;
    private final long pollMillis;
    private final BlockingQueue<Signal> signals = new LinkedBlockingQueue<>();
    private final CountDownLatch ended = new CountDownLatch(1);

    private Inbox.Push push = Inbox.Push.NONE;
    private long ticket;
    private @Nullable Place place;
    private Push.@Nullable Grant early;
    private boolean inTurn;

    private @Nullable CompletableFuture<List<Long>> asking;
    private int asked;
    private long askedNanos;
    private int askedGeneration;
    private boolean mayHaveTrace;
    private boolean askAgain;
    private long nextNanos;
    private long silentSinceNanos;

    Wait(Server server, Requests requests, byte[] key, String attempt, Request request, Duration maxWait) {
        this.server = server;
        this.requests = requests;
        this.key = key;
        this.attempt = attempt;
        this.request = request;
        this.endNanos = System.nanoTime() + maxWait.toNanos();
        this.pollMillis = Math.max(MIN_POLL_MILLIS, Math.min(MAX_POLL_MILLIS, Requests.ttlMillis(request) / 3));
    }

    String attempt() {
        return attempt;
    }

    CountDownLatch ended() {
        return ended;
    }

    /** Whether it was granted from the queue: then others may wait there, too. */
    boolean isGrantedInTurn() {
        return inTurn;
    }

    /** From any thread. */
    void signal(Signal signal) {
        signals.add(signal);
    }

    void begin(Inbox.Push how) {
        push = how;
        silentSinceNanos = System.nanoTime();
        ask();
    }

    private void ask() {
        int number = ++asked;
        askAgain = false;
        mayHaveTrace = true;
        server.connected(request.key().resource());
        askedGeneration = server.generation();
        askedNanos = System.nanoTime();
        CompletableFuture<List<Long>> answer = server.send(
                request.key().resource(),
                Script.ACQUIRE,
                key,
                requests.acquire(request, attempt, pollMillis, ticket, push));
        asking = answer;
        var unused = answer.whenComplete((reply, failure) -> signals.add(new Signal.Answered(number, reply, failure)));
    }

    /** Waits for whatever comes first. What it returns other than a grant may have left a trace on the server. */
    Attempt await() throws InterruptedException {
        while (true) {
            Signal signal = signals.poll(nanosToNextStep(), TimeUnit.NANOSECONDS);
            Attempt attempt = signal == null ? onTime() : on(signal);
            if (attempt != null) {
                mayHaveTrace &= !(attempt instanceof Attempt.Granted);
                return attempt;
            }
        }
    }

    private long nanosToNextStep() {
        long now = System.nanoTime();
        long step = asking == null ? nextNanos : askedNanos + server.limit().toNanos();
        // The first answer is waited for in any case: it may be that it is free.
        boolean unanswered = place == null && asking != null;
        return Math.max(0, unanswered ? step - now : Math.min(step - now, endNanos - now));
    }

    private @Nullable Attempt onTime() {
        long now = System.nanoTime();
        CompletableFuture<List<Long>> late = asking;
        if (late != null && now - askedNanos >= server.limit().toNanos()) {
            asking = null;
            late.cancel(false);
            throw server.failures().noAnswer(request.key().resource(), server.limit());
        }
        if (endNanos - now <= 0 && (place != null || asking == null)) {
            return Attempt.Conflicted.NO_HINT;
        }
        if (asking == null && nextNanos - now <= 0) {
            ask();
        }
        return null;
    }

    private @Nullable Attempt on(Signal signal) {
        if (signal instanceof Signal.Answered answered) {
            return answered.asked() == asked && asking != null ? onAnswer(answered) : null;
        }
        if (signal instanceof Signal.Granted granted) {
            return onGrant(granted.grant());
        }
        if (signal instanceof Signal.AskAgain) {
            askAgain = true;
            askAgainIfNeeded();
            return null;
        }
        if (signal instanceof Signal.Closed) {
            throw server.failures().closed(request.key().resource());
        }
        return Attempt.Conflicted.NO_HINT;
    }

    private @Nullable Attempt onAnswer(Signal.Answered answered) {
        asking = null;
        List<Long> reply = answered.reply();
        if (reply == null) {
            onFailure(answered.failure());
            return null;
        }
        silentSinceNanos = System.nanoTime();
        if (!Replies.isQueued(reply)) {
            inTurn = place != null;
            return Replies.attempt(reply, request, askedNanos);
        }
        ticket = reply.get(1);
        place = new Place(askedNanos, reply.get(2), askedGeneration);
        nextNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(pause(reply.get(3), reply.get(4)));
        Push.Grant waiting = early;
        early = null;
        if (waiting != null) {
            return onGrant(waiting);
        }
        askAgainIfNeeded();
        return null;
    }

    /** The first ones notice the end of a lease, one after the other; the others look now and then. */
    private long pause(long rank, long millisToLeaseEnd) {
        if (push == Inbox.Push.NONE) {
            return ThreadLocalRandom.current().nextLong(20, 101);
        }
        long position = rank < 0 ? 2 : rank;
        return position > 2 || millisToLeaseEnd <= 0
                ? pollMillis
                : Math.min(pollMillis, millisToLeaseEnd + 1 + 30 * position);
    }

    private void onFailure(@Nullable Throwable failure) {
        Throwable cause = failure == null ? new IllegalStateException("no answer") : failure;
        boolean passing = Failures.isConnection(cause) || Failures.isSlotMoving(cause);
        if (!passing || System.nanoTime() - silentSinceNanos > server.limit().toNanos()) {
            throw server.failures().of(request.key().resource(), cause);
        }
        nextNanos = System.nanoTime() + RETRY_NANOS;
    }

    private void askAgainIfNeeded() {
        if (askAgain && asking == null) {
            ask();
        }
    }

    private @Nullable Attempt onGrant(Push.Grant grant) {
        if (asking != null) {
            early = grant;
            return null;
        }
        Place last = place;
        boolean sameClock =
                last != null && last.generation() == server.generation() && grant.atMicros() >= last.serverMicros();
        if (last == null || !sameClock) {
            ask();
            return null;
        }
        long since = last.sinceNanos() + TimeUnit.MICROSECONDS.toNanos(grant.atMicros() - last.serverMicros());
        long now = System.nanoTime();
        inTurn = true;
        return Replies.granted(
                request.mode(), grant.fence(), since - now > 0 ? now : since, Duration.ofMillis(grant.ttlMillis()));
    }

    /** Leaves the queue, and undoes a grant that crosses: uninterruptibly, but not for longer than the limit. */
    void leave() {
        if (mayHaveTrace) {
            server.ask(request.key().resource(), Script.CANCEL, key, cancelArguments());
        }
    }

    byte[][] cancelArguments() {
        return requests.cancel(request, attempt, pollMillis, push);
    }
}
