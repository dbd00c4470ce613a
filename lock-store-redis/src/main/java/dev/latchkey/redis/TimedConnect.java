package dev.latchkey.redis;

import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.api.StatefulConnection;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

/** Connects for a limited time: the driver never ends a connection to a cluster that its client's end cuts across. */
final class TimedConnect {

    /** For the first connection, which has the driver load its classes; it gives up by itself where nobody answers. */
    static final Duration SHORTEST_LIMIT = Duration.ofSeconds(30);

    private TimedConnect() {}

    /** As {@link #await(CompletableFuture, Duration)}, for as long as connecting may take at most. */
    static <C extends StatefulConnection<?, ?>> C await(CompletableFuture<C> connecting) {
        return await(connecting, SHORTEST_LIMIT);
    }

    /**
     * Waits for a connection, whether the thread is interrupted or not. One that comes too late is closed.
     *
     * @throws RedisConnectionException if there is none in time, or it failed
     */
    static <C extends StatefulConnection<?, ?>> C await(CompletableFuture<C> connecting, Duration limit) {
        try {
            return Uninterruptibles.await(connecting, limit);
        } catch (ExecutionException e) {
            throw new RedisConnectionException(
                    String.valueOf(Failures.unwrapped(e).getMessage()), Failures.unwrapped(e));
        } catch (TimeoutException e) {
            var unused = connecting.thenAccept(StatefulConnection::close);
            throw new RedisConnectionException("connecting takes longer than " + limit, e);
        }
    }
}
