package dev.latchkey.redis;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import java.util.function.Supplier;

/**
 * Sends requests without waiting for the answer. A thread that waits does it instead, which happens rarely, if the store is not
 * connected yet or the request has to be sent again.
 */
final class AsyncRequests {

    private final ScriptRunner server;
    private final Requests requests;
    private final Releases releases;
    private final CommandTimeouts limit;

    AsyncRequests(ScriptRunner server, Requests requests, Releases releases) {
        this.releases = releases;
        this.server = server;
        this.requests = requests;
        this.limit = new CommandTimeouts(server.limit());
    }

    CompletableFuture<Response> save(Request request, long proposal, Supplier<Response> waiting) {
        return send(
                requests.acquire(request, proposal),
                (sent, reply) -> ReplyParser.response(reply, request, sent.sinceNanos()),
                waiting);
    }

    CompletableFuture<Boolean> delete(Key key, Supplier<Boolean> waiting) {
        return send(requests.release(key), (sent, reply) -> releases.wasOurs(key, reply), waiting);
    }

    private <T> CompletableFuture<T> send(
            ScriptRequest request, BiFunction<ScriptRunner.Sent, List<Long>, T> reader, Supplier<T> waiting) {
        if (!server.link().isConnected()) {
            return LazyConnection.apart(waiting);
        }
        ScriptRunner.Sent sent;
        try {
            sent = server.send(request);
        } catch (LockStorageException e) {
            // The store was closed since.
            return CompletableFuture.failedFuture(e);
        }
        return limit.on(sent.answer())
                .thenApply(reply -> reader.apply(sent, reply))
                .exceptionallyCompose(failure -> isToBeSentAgain(request.script(), failure)
                        ? LazyConnection.apart(waiting)
                        : CompletableFuture.failedFuture(described(request.resource(), failure)));
    }

    private static boolean isToBeSentAgain(Script script, Throwable failure) {
        // Without a connection there would be a thread for each of many requests; who sends without waiting has other
        // stores to ask.
        return !(Failures.unwrapped(failure) instanceof TimeoutException)
                && !Failures.isRejected(failure)
                && (Failures.isPassing(failure) || (Failures.isConnection(failure) && script.isRepeatable()));
    }

    private RuntimeException described(String resource, Throwable failure) {
        if (Failures.isRejected(failure)) {
            return server.failures().notConnected(resource, failure);
        }
        return Failures.unwrapped(failure) instanceof TimeoutException
                ? server.noAnswer(resource)
                : server.failures().of(resource, failure);
    }
}
