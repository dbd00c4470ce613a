package dev.latchkey.redis;

import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One call that waits, on the thread of its caller: it asks for a place in the queue, listens, and asks again now and then.
 *
 * <ol>
 *   <li>Where messages cannot reach it yet it asks first, for most locks are free. Queued, it begins to listen, polls until
 *       messages can reach it, and then has the queue know that, at its place.
 *   <li>A reply that grants counts from before its request was sent.
 *   <li>A message that grants counts by the server's own clock: as much later than the last request as the server says that
 *       the grant came after the answer. A caller that was frozen in between computes a lease that is over already. One
 *       read from the reply to a release of this store counts from before that was sent.
 *   <li>A message that overtakes a reply waits for it. After a lost connection, or a look that failed, it is only a hint,
 *       for its time may be that of another server.
 *   <li>Asking again with the ticket finds what a lost message would have told, shows that the waiter lives, and keeps its
 *       place if the server has forgotten it.
 * </ol>
 */
final class QueuedAcquire {

    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long OVERSLEPT_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final QueueRequests questions;
    private final WaiterSubscription subscription;
    private final long endNanos;
    private final BlockingQueue<WaiterEvent> signals = new LinkedBlockingQueue<>();
    private final CountDownLatch ended = new CountDownLatch(1);

    private @Nullable QueueRequest question;
    private long answerByNanos;
    private boolean askAgain;
    private long nextNanos;

    /** When the first was sent of the questions that have failed in a row. */
    private @Nullable Long failingSinceNanos;

    /** How the queue knows it. */
    private NotificationChannel.GrantMessage push = NotificationChannel.GrantMessage.NONE;

    private boolean mayHaveTrace;
    private long ticket;
    private @Nullable QueuePosition place;
    private GrantMessage.@Nullable Grant early;
    private boolean inTurn;

    QueuedAcquire(QueueRequests questions, WaiterSubscription subscription, Duration maxWait) {
        this.questions = questions;
        this.subscription = subscription;
        this.endNanos = System.nanoTime() + maxWait.toNanos();
    }

    CountDownLatch ended() {
        return ended;
    }

    /** Whether it was granted from the queue: then others may wait there, too. */
    boolean isGrantedInTurn() {
        return inTurn;
    }

    /** From any thread. */
    void signal(WaiterEvent signal) {
        signals.add(signal);
    }

    /** Asks for the first time. */
    void begin() {
        subscription.openNow();
        push = subscription.push();
        ask();
    }

    private void ask() {
        askAgain = false;
        mayHaveTrace = true;
        QueueRequest asked = push == subscription.push()
                ? questions.ask(ticket, push)
                : questions.askListening(ticket, subscription.push());
        question = asked;
        answerByNanos = asked.sinceNanos() + questions.limitNanos();
        var unused = asked.answer()
                .whenComplete((reply, failure) -> signals.add(new WaiterEvent.Answered(asked, reply, failure)));
    }

    /** Waits for whatever comes first. What it returns other than a grant may have left a trace on the server. */
    Response await() throws InterruptedException {
        while (true) {
            WaiterEvent signal = signals.poll(nanosToNextStep(), TimeUnit.NANOSECONDS);
            Response response = signal == null ? onTime() : on(signal);
            if (response != null) {
                mayHaveTrace &= !(response instanceof Response.Granted);
                return response;
            }
        }
    }

    private long nanosToNextStep() {
        long now = System.nanoTime();
        QueueRequest asked = question;
        long step = asked == null ? nextNanos : answerByNanos;
        // The first answer is waited for in any case: it may be that it is free, and no answer is no conflict.
        return Math.max(0, place == null ? step - now : Math.min(step - now, endNanos - now));
    }

    private @Nullable Response onTime() {
        long now = System.nanoTime();
        QueueRequest asked = question;
        if (asked != null && now - answerByNanos >= 0) {
            onSilence(asked, now);
        }
        if (endNanos - now <= 0 && place != null) {
            return Response.Conflicted.NO_HINT;
        }
        if (asked == null && nextNanos - now <= 0) {
            ask();
        }
        return null;
    }

    /** Where this process slept as well the answer may be here, and nobody has read it yet. */
    private void onSilence(QueueRequest late, long now) {
        if (now - answerByNanos > OVERSLEPT_NANOS) {
            answerByNanos = now + questions.limitNanos();
        } else {
            question = null;
            late.answer().cancel(false);
            throw questions.noAnswer();
        }
    }

    private @Nullable Response on(WaiterEvent signal) {
        if (signal instanceof WaiterEvent.Answered answer) {
            return answer.question().equals(question) ? onAnswer(answer) : null;
        }
        if (signal instanceof WaiterEvent.Granted granted) {
            return onGrant(granted.grant());
        }
        if (signal instanceof WaiterEvent.Listening now) {
            subscription.opened(now.push());
            askAgain |= push != subscription.push();
            askAgainIfNeeded();
            return null;
        }
        if (signal instanceof WaiterEvent.AskAgain) {
            askAgain = true;
            askAgainIfNeeded();
            return null;
        }
        if (signal instanceof WaiterEvent.Closed) {
            throw questions.closed();
        }
        return Response.Conflicted.NO_HINT;
    }

    private @Nullable Response onAnswer(WaiterEvent.Answered answer) {
        question = null;
        List<Long> reply = answer.reply();
        if (reply == null) {
            onFailure(answer.question(), answer.failure());
            return null;
        }
        failingSinceNanos = null;
        if (ReplyParser.isQueued(reply)) {
            return onQueued(answer.question(), reply);
        }
        inTurn = place != null;
        return questions.response(reply, answer.question());
    }

    private @Nullable Response onQueued(QueueRequest asked, List<Long> reply) {
        ticket = reply.get(1);
        place = new QueuePosition(asked.sinceNanos(), reply.get(2), asked.generation());
        push = asked.push();
        subscription.open(how -> signals.add(new WaiterEvent.Listening(how)));
        nextNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(pause(reply.get(3), reply.get(4)));
        GrantMessage.Grant waiting = early;
        early = null;
        if (waiting != null) {
            return onGrant(waiting);
        }
        askAgainIfNeeded();
        return null;
    }

    /** The first ones notice the end of a lease, one after the other; the others look now and then. */
    private long pause(long rank, long millisToLeaseEnd) {
        if (push == NotificationChannel.GrantMessage.NONE) {
            return ThreadLocalRandom.current().nextLong(20, 101);
        }
        long poll = questions.pollMillis();
        long position = rank < 0 ? 2 : rank;
        return position > 2 || millisToLeaseEnd <= 0 ? poll : Math.min(poll, millisToLeaseEnd + 1 + 30 * position);
    }

    private void onFailure(QueueRequest asked, @Nullable Throwable failure) {
        Throwable cause = failure == null ? new IllegalStateException("no answer") : failure;
        boolean passing = Failures.isConnection(cause) || Failures.isPassing(cause);
        // Not from the last answer on: looks are seconds apart, and one that fails is no reason to give up.
        long since = failingSinceNanos == null ? asked.sinceNanos() : failingSinceNanos;
        failingSinceNanos = since;
        if (!passing || System.nanoTime() - since > questions.limitNanos()) {
            throw questions.failed(cause);
        }
        place = place == null ? null : place.outdated();
        nextNanos = System.nanoTime() + RETRY_NANOS;
    }

    private void askAgainIfNeeded() {
        if (askAgain && question == null) {
            ask();
        }
    }

    private @Nullable Response onGrant(GrantMessage.Grant grant) {
        if (question != null) {
            early = grant;
            return null;
        }
        QueuePosition last = place;
        if (last == null || !questions.canTell(last, grant)) {
            ask();
            return null;
        }
        inTurn = true;
        return questions.response(grant, last);
    }

    /** Leaves no trace on the server: uninterruptibly, but not for longer than the limit. */
    void leave() {
        QueueRequest asked = question;
        if (asked != null) {
            // First, so that a server which does not know the script is not sent its text once the cancel has run.
            asked.answer().cancel(false);
        }
        if (mayHaveTrace) {
            questions.cancel();
        }
    }
}
