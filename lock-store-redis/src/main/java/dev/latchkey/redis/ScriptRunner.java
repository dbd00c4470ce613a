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
        complete(answer, call, generation, failure -> {
            // A request that was given up is not sent at all: see complete.
            if (Failures.isUnknownScript(failure)) {
                ScriptCall again = ScriptCall.bySource(request);
                complete(answer, again, generation, answer::completeExceptionally);
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

    private void complete(
            CompletableFuture<List<Long>> answer, ScriptCall call, int generation, Consumer<Throwable> onFailure) {
        call.onAnswer(() -> link.heard(null, generation));
        call.onComplete((reply, failure) -> {
            link.heard(failure, generation);
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
                return await(request.resource(), answer, sent.sinceNanos(), limit);
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

    /**
     * Waits for an answer, and does not send the script again.
     *
     * @param sinceNanos from when on the time counts
     * @param within for how long, if that is less than the command timeout. A server that is slower is noted as silent for
     *     that long: the connection is replaced if it stays silent
     */
    List<Long> onlyAnswer(Sent sent, long sinceNanos, Duration within) {
        return onlyAnswer(sent.request().resource(), sent.answer(), sinceNanos, within);
    }

    private List<Long> onlyAnswer(String resource, Future<List<Long>> answer, long sinceNanos, Duration within) {
        try {
            return await(resource, answer, sinceNanos, within.compareTo(limit) < 0 ? within : limit);
        } catch (ExecutionException e) {
            throw failures.of(resource, e);
        }
    }

    private <T> T await(String resource, Future<T> answer, long sinceNanos, Duration within) throws ExecutionException {
        try {
            return Uninterruptibles.await(answer, within.minusNanos(System.nanoTime() - sinceNanos));
        } catch (TimeoutException e) {
            answer.cancel(false);
            throw noAnswer(resource, within);
        } catch (CancellationException e) {
            throw new ExecutionException(e);
        }
    }

    /** Notes that the server has not answered within the limit, and describes it. */
    LockStorageException noAnswer(String resource) {
        return noAnswer(resource, limit);
    }

    private LockStorageException noAnswer(String resource, Duration within) {
        link.unanswered(within);
        return failures.noAnswer(resource, within);
    }

    /** Returns how many replicas have acknowledged what this connection has written. */
    long replicated(String resource, int replicas, Duration maxWait) {
        CompletableFuture<List<Long>> answer = new CompletableFuture<>();
        ScriptCall call = ScriptCall.waitFor(replicas, maxWait.toMillis());
        int generation = link.generation();
        complete(answer, call, generation, answer::completeExceptionally);
        dispatch(link.connected(resource), call);
        return onlyAnswer(resource, answer, System.nanoTime(), limit).get(0);
    }

    void close() {
        link.close();
    }
}
