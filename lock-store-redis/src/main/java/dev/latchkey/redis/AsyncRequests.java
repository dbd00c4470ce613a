package dev.latchkey.redis;

import dev.latchkey.Key;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Asks without waiting, over the connection there is. Where there is none yet, or it has to be asked again, that is left to a
 * thread that waits: it happens seldom.
 */
final class AsyncRequests {

    private final ScriptRunner server;
    private final KeyNames names;
    private final Requests arguments;
    private final CommandTimeouts limit;

    AsyncRequests(ScriptRunner server, KeyNames names, Requests arguments) {
        this.server = server;
        this.names = names;
        this.arguments = arguments;
        this.limit = new CommandTimeouts(server.limit());
    }

    CompletableFuture<Response> save(Request request, long proposal, Supplier<Response> waiting) {
        long since = System.nanoTime();
        return ask(
                request.key().resource(),
                Requests.script(Script.ACQUIRE, request),
                arguments.acquire(request, proposal),
                reply -> ReplyParser.response(reply, request, since),
                waiting);
    }

    CompletableFuture<Boolean> delete(Key key, Supplier<Boolean> waiting) {
        return ask(key.resource(), Script.RELEASE, arguments.release(key), reply -> reply.get(0) == 1, waiting);
    }

    private <T> CompletableFuture<T> ask(
            String resource, Script script, byte[][] args, Function<List<Long>, T> reader, Supplier<T> waiting) {
        if (!server.link().isConnected()) {
            return LazyConnection.apart(waiting);
        }
        return limit.on(server.send(resource, script, names.key(resource), args))
                .thenApply(reader)
                .exceptionallyCompose(failure -> isToBeAskedAgain(script, failure)
                        ? LazyConnection.apart(waiting)
                        : CompletableFuture.failedFuture(described(resource, failure)));
    }

    private static boolean isToBeAskedAgain(Script script, Throwable failure) {
        // A thread for each of many that wait for a connection would be dear; who asks without waiting has others to
        // ask.
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
