package dev.latchkey.redis;

import dev.latchkey.LockStorageException;
import io.lettuce.core.api.StatefulConnection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Runs scripts over one connection. What is asked here waits for its answer whether the thread is
 * interrupted or not, but never longer than the limit; the interrupt flag stays as it was.
 */
final class ScriptRunner {

    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final SharedConnection link;
    private final Failures failures;
    private final Duration limit;

    ScriptRunner(Connections connections, Failures failures, Duration limit) {
        this.link = new SharedConnection(connections, failures, limit);
        this.failures = failures;
        this.limit = limit;
    }

    SharedConnection link() {
        return link;
    }

    Failures failures() {
        return failures;
    }

    Duration limit() {
        return limit;
    }

    /** Sends without waiting. A server that does not know the script is sent its text. */
    CompletableFuture<List<Long>> send(String resource, Script script, byte[] key, byte[]... args) {
        return send(resource, script, List.of(key), args);
    }

    private CompletableFuture<List<Long>> send(String resource, Script script, List<byte[]> keys, byte[]... args) {
        StatefulConnection<byte[], byte[]> open = link.connected(resource);
        CompletableFuture<List<Long>> answer = new CompletableFuture<>();
        dispatch(open, ScriptCall.byDigest(script, keys, args), answer, failure -> {
            // Given up, it is not sent at all: see dispatch.
            if (Failures.isUnknownScript(failure)) {
                dispatch(open, ScriptCall.bySource(script, keys, args), answer, answer::completeExceptionally);
            } else {
                answer.completeExceptionally(failure);
            }
        });
        return answer;
    }

    private void dispatch(
            StatefulConnection<byte[], byte[]> open,
            ScriptCall call,
            CompletableFuture<List<Long>> answer,
            Consumer<Throwable> onFailure) {
        call.onComplete((reply, failure) -> {
            link.heard(failure);
            Throwable inDoubt = call.failure();
            if (inDoubt != null) {
                answer.completeExceptionally(inDoubt);
            } else if (failure == null) {
                answer.complete(reply);
            } else {
                onFailure.accept(failure);
            }
        });
        // Given up, it must not be sent when the connection comes back.
        var unused = answer.whenComplete((reply, failure) -> call.cancel(false));
        try {
            open.dispatch(call);
        } catch (RuntimeException e) {
            onFailure.accept(e);
        }
    }

    /** Asks how many replicas have acknowledged what this connection has written. */
    long replicated(String resource, int replicas, Duration maxWait) {
        CompletableFuture<List<Long>> answer = new CompletableFuture<>();
        dispatch(
                link.connected(resource),
                ScriptCall.waitFor(replicas, maxWait.toMillis()),
                answer,
                answer::completeExceptionally);
        return answer(resource, answer, System.nanoTime() + limit.toNanos()).get(0);
    }

    /**
     * Sends and waits for the answer.
     *
     * @throws LockStorageException if there is none within the limit, or the server refuses
     */
    List<Long> ask(String resource, Script script, byte[] key, byte[]... args) {
        return ask(resource, script, List.of(key), args);
    }

    /** As {@link #ask(String, Script, byte[], byte[]...)}, about several resources; a failure names the first. */
    List<Long> ask(String resource, Script script, List<byte[]> keys, byte[]... args) {
        long end = System.nanoTime() + limit.toNanos();
        while (true) {
            try {
                return await(resource, send(resource, script, keys, args), end);
            } catch (ExecutionException e) {
                boolean again = Failures.isPassing(e) || (Failures.isConnection(e) && script.isRepeatable());
                if (!again || end - System.nanoTime() <= PAUSE_NANOS) {
                    throw failures.of(resource, e);
                }
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    /** Waits for an answer to what was sent before; what failed is not sent again. */
    List<Long> answer(String resource, Future<List<Long>> answer, long endNanos) {
        try {
            return await(resource, answer, endNanos);
        } catch (ExecutionException e) {
            throw failures.of(resource, e);
        }
    }

    private <T> T await(String resource, Future<T> answer, long endNanos) throws ExecutionException {
        try {
            return Uninterruptibles.await(answer, Duration.ofNanos(endNanos - System.nanoTime()));
        } catch (TimeoutException e) {
            answer.cancel(false);
            throw noAnswer(resource);
        } catch (CancellationException e) {
            throw new ExecutionException(e);
        }
    }

    /** Nobody has answered within the limit. */
    LockStorageException noAnswer(String resource) {
        link.unanswered();
        return failures.noAnswer(resource, limit);
    }

    void close() {
        link.close();
    }
}
