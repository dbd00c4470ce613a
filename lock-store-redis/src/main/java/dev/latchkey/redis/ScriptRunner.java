package dev.latchkey.redis;

import dev.latchkey.LockStorageException;
import io.lettuce.core.api.StatefulConnection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * Runs scripts over the connection of the store. Waiting for an answer ignores interrupts, keeps the interrupt flag, and never
 * takes longer than the command timeout.
 */
final class ScriptRunner {

    private static final Duration PAUSE = Duration.ofMillis(20);

    private final SharedConnection link;
    private final Failures failures;
    private final Duration limit;

    ScriptRunner(Connections connections, Failures failures, Duration limit) {
        this.link = new SharedConnection(connections, failures, limit);
        this.failures = failures;
        this.limit = limit;
    }

    /**
     * A script that was sent.
     *
     * @param session the connection it was sent over
     * @param generation of the connection before it was sent
     * @param sinceNanos a time before it was sent
     * @param answer the reply
     */
    record Sent(
            ScriptRequest request,
            SharedConnection.Session session,
            int generation,
            long sinceNanos,
            CompletableFuture<List<Long>> answer) {}

    SharedConnection link() {
        return link;
    }

    Failures failures() {
        return failures;
    }

    Duration limit() {
        return limit;
    }

    /** Sends without waiting for the answer. A server that does not know the script is sent its text. */
    Sent send(ScriptRequest request) {
        // Read before the connection, which may be replaced in between: the number is then too old, never too new.
        int generation = link.generation();
        SharedConnection.Session session = link.session(request.resource());
        StatefulConnection<byte[], byte[]> open = session.connection();
        CompletableFuture<List<Long>> answer = new CompletableFuture<>();
        ScriptCall call = ScriptCall.byDigest(request);
        complete(answer, call, failure -> {
            // A request that was given up is not sent at all: see complete.
            if (Failures.isUnknownScript(failure)) {
                ScriptCall again = ScriptCall.bySource(request);
                complete(answer, again, answer::completeExceptionally);
                dispatch(open, again);
            } else {
                answer.completeExceptionally(failure);
            }
        });
        long since = System.nanoTime();
        try {
            open.dispatch(call);
        } catch (RuntimeException e) {
            call.completeExceptionally(e);
        }
        return new Sent(request, session, generation, since, answer);
    }

    private void complete(CompletableFuture<List<Long>> answer, ScriptCall call, Consumer<Throwable> onFailure) {
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
        // A request that was given up must not be sent when the connection comes back.
        var unused = answer.whenComplete((reply, failure) -> call.cancel(false));
    }

    private static void dispatch(StatefulConnection<byte[], byte[]> open, ScriptCall call) {
        try {
            open.dispatch(call);
        } catch (RuntimeException e) {
            call.completeExceptionally(e);
        }
    }

    /**
     * Sends and waits for the answer.
     *
     * @throws LockStorageException as {@link #answer(Sent)}
     */
    List<Long> ask(ScriptRequest request) {
        return answer(send(request));
    }

    /**
     * Waits for an answer, and sends the script again if that may help and does no harm.
     *
     * @throws LockStorageException if there is no answer within the limit, or the server refuses
     */
    List<Long> answer(Sent sent) {
        ScriptRequest request = sent.request();
        long end = sent.sinceNanos() + limit.toNanos();
        Future<List<Long>> answer = sent.answer();
        while (true) {
            try {
                return await(request.resource(), answer, end);
            } catch (ExecutionException e) {
                boolean again = Failures.isPassing(e)
                        || (Failures.isConnection(e) && request.script().isRepeatable());
                if (!again || end - System.nanoTime() <= PAUSE.toNanos()) {
                    throw failures.of(request.resource(), e);
                }
                Uninterruptibles.pause(PAUSE);
                answer = send(request).answer();
            }
        }
    }

    /** Waits for an answer, and does not send the script again. */
    List<Long> onlyAnswer(Sent sent, long endNanos) {
        return onlyAnswer(sent.request().resource(), sent.answer(), endNanos);
    }

    private List<Long> onlyAnswer(String resource, Future<List<Long>> answer, long endNanos) {
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

    /** Notes that the server has not answered within the limit, and describes it. */
    LockStorageException noAnswer(String resource) {
        link.unanswered();
        return failures.noAnswer(resource, limit);
    }

    /** Returns how many replicas have acknowledged what this connection has written. */
    long replicated(String resource, int replicas, Duration maxWait) {
        CompletableFuture<List<Long>> answer = new CompletableFuture<>();
        ScriptCall call = ScriptCall.waitFor(replicas, maxWait.toMillis());
        complete(answer, call, answer::completeExceptionally);
        dispatch(link.connected(resource), call);
        return onlyAnswer(resource, answer, System.nanoTime() + limit.toNanos()).get(0);
    }

    void close() {
        link.close();
    }
}
