package dev.latchkey.redis;

import dev.latchkey.Key;
import dev.latchkey.spi.Attempt;
import dev.latchkey.spi.Request;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Asks without waiting, over the connection there is. Where there is none yet, or it has to be asked again, that is left to a
 * thread that waits: it happens seldom.
 */
final class Sending {

    private final Server server;
    private final Names names;
    private final Requests arguments;
    private final TimeLimit limit;

    Sending(Server server, Names names, Requests arguments) {
        this.server = server;
        this.names = names;
        this.arguments = arguments;
        this.limit = new TimeLimit(server.limit());
    }

    CompletableFuture<Attempt> save(Request request, long proposal, Supplier<Attempt> waiting) {
        long since = System.nanoTime();
        return ask(
                request.key().resource(),
                Script.ACQUIRE,
                arguments.acquire(request, proposal),
                reply -> Replies.attempt(reply, request, since),
                waiting);
    }

    CompletableFuture<Boolean> delete(Key key, Supplier<Boolean> waiting) {
        return ask(key.resource(), Script.RELEASE, arguments.release(key), reply -> reply.get(0) == 1, waiting);
    }

    private <T> CompletableFuture<T> ask(
            String resource, Script script, byte[][] args, Function<List<Long>, T> reader, Supplier<T> waiting) {
        if (!server.link().isConnected()) {
            return Opening.apart(waiting);
        }
        return limit.on(server.send(resource, script, names.key(resource), args))
                .thenApply(reader)
                .exceptionallyCompose(failure -> isToBeAskedAgain(script, failure)
                        ? Opening.apart(waiting)
                        : CompletableFuture.failedFuture(described(resource, failure)));
    }

    private static boolean isToBeAskedAgain(Script script, Throwable failure) {
        // A thread for each of many that wait for a connection would be dear; who asks without waiting has others to
        // ask.
        return !(Failures.unwrapped(failure) instanceof TimeoutException)
                && !Failures.isRejected(failure)
                && (Failures.isSlotMoving(failure) || (Failures.isConnection(failure) && script.isRepeatable()));
    }

    private RuntimeException described(String resource, Throwable failure) {
        if (Failures.isRejected(failure)) {
            return server.failures().notConnected(resource, failure);
        }
        return Failures.unwrapped(failure) instanceof TimeoutException
                ? server.failures().noAnswer(resource, server.limit())
                : server.failures().of(resource, failure);
    }
}
