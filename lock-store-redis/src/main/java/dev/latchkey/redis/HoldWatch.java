package dev.latchkey.redis;

import dev.latchkey.Key;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.KeptHolds;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has the Locks of this store told what happens to what they hold: that it was ended by force, or that it is recalled. Who is to
 * keep a hold has to hear of its recall, so the store subscribes before the first request for one.
 */
final class HoldWatch {

    private static final Logger log = LoggerFactory.getLogger(RedisStore.class);
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final ForcedReleaseWatch forced;
    private final KeptHolds kept;
    private final LazyNotificationChannel inbox;
    private final Duration limit;
    private final ReentrantLock guard = new ReentrantLock();
    private volatile CompletableFuture<?> listening =
            CompletableFuture.failedFuture(new IllegalStateException("not yet"));
    private volatile long retryNanos = System.nanoTime();
    private volatile boolean warned;

    /** @param limit how long to wait for a subscription */
    HoldWatch(ForcedReleaseWatch forced, KeptHolds kept, LazyNotificationChannel inbox, Duration limit) {
        this.forced = forced;
        this.kept = kept;
        this.inbox = inbox;
        this.limit = limit;
    }

    /** Returns the same request, which may be sent now: if it is sticky, the store listens, or has found that it cannot. */
    Request prepared(Request request) {
        if (request.isSticky() && !isListening() && retryNanos - System.nanoTime() <= 0) {
            listen();
        }
        return request;
    }

    private boolean isListening() {
        CompletableFuture<?> begun = listening;
        return begun.isDone() && !begun.isCompletedExceptionally();
    }

    private void listen() {
        guard.lock();
        try {
            if (isListening()) {
                return;
            }
            CompletableFuture<?> begun = inbox.listen();
            Uninterruptibles.await(begun, limit);
            listening = begun;
        } catch (ExecutionException | TimeoutException e) {
            retryNanos = System.nanoTime() + RETRY_NANOS;
            if (!warned) {
                warned = true;
                log.warn(
                        "lock.subscription_failed problem={} consequence=sticky locks are not kept",
                        Failures.unwrapped(e).getMessage());
            }
        } finally {
            guard.unlock();
        }
    }

    Response watched(Request request, Response response) {
        Response answer = kept.watch(request, forced.watched(request, response));
        if (request.isSticky() && answer instanceof Response.Granted && !isListening()) {
            kept.recall(request.key().resource());
        }
        return answer;
    }

    List<RefreshResult> watched(List<Request> requests, List<RefreshResult> results) {
        List<RefreshResult> answers = new ArrayList<>(results);
        for (int i = 0; i < answers.size(); i++) {
            if (answers.get(i) instanceof RefreshResult.Answered answered) {
                answers.set(i, new RefreshResult.Answered(watched(requests.get(i), answered.response())));
            }
        }
        return answers;
    }

    BatchAttempt watched(List<Request> requests, BatchAttempt attempt) {
        return forced.watched(requests, attempt);
    }

    /** What these keys claim is released. */
    void released(List<Key> keys) {
        forced.released(keys);
        keys.forEach(kept::released);
    }

    /** Reads the reply to a find. */
    Optional<Response.Granted> found(Key key, List<Long> reply, long sinceNanos) {
        return forced.found(key, reply, sinceNanos);
    }
}
