package dev.latchkey.redis;

import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.api.StatefulConnection;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

/** Limits the time to connect. The driver never ends a connection to a cluster if its client is closed meanwhile. */
final class TimedConnect {

    /** Long enough for the first connection, for which the driver loads its classes. The driver gives up sooner if nobody answers. */
    static final Duration SHORTEST_LIMIT = Duration.ofSeconds(30);

    private TimedConnect() {}

    /** As {@link #await(CompletableFuture, Duration)}, with the longest time that connecting may take. */
    static <C extends StatefulConnection<?, ?>> C await(CompletableFuture<C> connecting) {
        return await(connecting, SHORTEST_LIMIT);
    }

    /**
     * Waits for a connection and ignores interrupts. A connection that comes too late is closed.
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
