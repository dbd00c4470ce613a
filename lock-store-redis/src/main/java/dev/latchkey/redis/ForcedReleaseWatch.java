package dev.latchkey.redis;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Has the Locks of this store told of holds that somebody has ended by force. The store subscribes to messages about that once it
 * has held something for a while: nobody ends a hold by hand sooner, and most holds are shorter. A store that keeps none for long has
 * no subscription, and no cycle costs a command. What was ended before the subscription is found by one question for each hold.
 *
 * <p>A message may be lost with its connection. Then the holder learns of it by its next renewal.
 */
final class ForcedReleaseWatch {

    private static final Duration A_WHILE = Duration.ofMillis(400);
    private static final Duration RETRY = Duration.ofMinutes(1);
    private static final int MOST_TRIES = 10;

    private final ScriptRunner server;
    private final Requests requests;
    private final LazyNotificationChannel inbox;
    private final ForcedReleases forced;

    /** Whether it is subscribed, or will look whether it has to be. */
    private final AtomicBoolean isDue = new AtomicBoolean();

    ForcedReleaseWatch(ScriptRunner server, Requests requests, LazyNotificationChannel inbox, ForcedReleases forced) {
        this.server = server;
        this.requests = requests;
        this.inbox = inbox;
        this.forced = forced;
    }

    /** Returns the same answer; the Lock hears of it when somebody ends the hold by force. */
    Response watched(Request request, Response response) {
        Response answer = forced.watch(request.key(), response);
        mayBeNeeded();
        return answer;
    }

    List<RefreshResult> watched(List<Request> requests, List<RefreshResult> results) {
        List<RefreshResult> answers = new ArrayList<>(results);
        for (int i = 0; i < answers.size(); i++) {
            if (answers.get(i) instanceof RefreshResult.Answered answered) {
                Response answer = watched(requests.get(i), answered.response());
                answers.set(i, new RefreshResult.Answered(answer));
            }
        }
        return answers;
    }

    BatchAttempt watched(List<Request> requests, BatchAttempt attempt) {
        if (!(attempt instanceof BatchAttempt.Granted granted)) {
            return attempt;
        }
        List<Response.Granted> answers = new ArrayList<>();
        for (int i = 0; i < requests.size(); i++) {
            answers.add(forced.watch(requests.get(i).key(), granted.grants().get(i)));
        }
        mayBeNeeded();
        return new BatchAttempt.Granted(answers);
    }

    /** What these keys claim is released. */
    void released(List<Key> keys) {
        keys.forEach(forced::released);
    }

    /** Reads the reply to a find. */
    Optional<Response.Granted> found(Key key, List<Long> reply, long sinceNanos) {
        if (ReplyParser.isForced(reply)) {
            forced.happened(key);
        }
        return ReplyParser.found(reply, sinceNanos).map(granted -> forced.watch(key, granted));
    }

    /** Something may be held. Neither waits nor connects. */
    private void mayBeNeeded() {
        if (!isDue.get() && server.link().isConnected() && isDue.compareAndSet(false, true)) {
            lookIn(A_WHILE);
        }
    }

    private void lookIn(Duration pause) {
        if (!server.link().later(pause, this::look)) {
            // The next hold tries again.
            isDue.set(false);
        }
    }

    private void look() {
        if (server.link().isClosed()) {
            return;
        }
        if (forced.isAnyHeldFor(A_WHILE.toNanos())) {
            subscribe();
        } else if (forced.isAnyHeld()) {
            lookIn(A_WHILE);
        } else {
            isDue.set(false);
            if (forced.isAnyHeld()) {
                // Held since, by somebody who relied on this look.
                mayBeNeeded();
            }
        }
    }

    private void subscribe() {
        var unused = inbox.listen().whenComplete((done, failure) -> {
            if (failure == null) {
                askForAll();
            } else {
                lookIn(Failures.isPassing(failure) ? A_WHILE : RETRY);
            }
        });
    }

    private void askForAll() {
        forced.held().forEach(key -> ask(key, 0));
    }

    /** On a thread of the driver, which must not connect. */
    private void ask(Key key, int failures) {
        if (!server.link().isConnected()) {
            return;
        }
        try {
            var unused = server.send(requests.find(key)).answer().whenComplete((reply, failure) -> {
                if (failure == null && ReplyParser.isForced(reply)) {
                    forced.happened(key);
                } else if (failure != null && Failures.isPassing(failure) && failures < MOST_TRIES) {
                    boolean unusedRetry = server.link().later(A_WHILE.dividedBy(4), () -> ask(key, failures + 1));
                }
            });
        } catch (LockStorageException e) {
            // The store is closed, or connects again: what is held is asked for by its next renewal.
        }
    }
}
