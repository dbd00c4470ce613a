package dev.latchkey.redis;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisException;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.RedisPubSubListener;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

/** One subscription for all waiters of a store, to one server. */
final class PubSubChannel extends RedisPubSubAdapter<String, String>
        implements NotificationChannel, RedisConnectionStateListener {

    private final StatefulRedisPubSubConnection<String, String> connection;
    private final String channel;
    private final WaiterRegistry waiters;
    private final Runnable end;
    private volatile boolean open;

    private PubSubChannel(
            StatefulRedisPubSubConnection<String, String> connection,
            String channel,
            WaiterRegistry waiters,
            Runnable end) {
        this.connection = connection;
        this.channel = channel;
        this.waiters = waiters;
        this.end = end;
    }

    /**
     * Subscribes, and returns once the server has confirmed it.
     *
     * @param end closes the connection, if it belongs to the store
     * @param limit how long to wait for the confirmation
     * @throws io.lettuce.core.RedisException if the server cannot be reached or does not allow it
     */
    static PubSubChannel open(
            StatefulRedisPubSubConnection<String, String> connection,
            KeyNames names,
            WaiterRegistry waiters,
            Runnable end,
            Duration limit) {
        String channel = names.channel(waiters.id());
        PubSubChannel inbox = new PubSubChannel(connection, channel, waiters, end);
        connection.addListener((RedisConnectionStateListener) inbox);
        connection.addListener((RedisPubSubListener<String, String>) inbox);
        try {
            Uninterruptibles.await(connection.async().subscribe(channel), limit);
            inbox.open = true;
            return inbox;
        } catch (ExecutionException e) {
            inbox.close();
            throw e.getCause() instanceof RedisException known ? known : new RedisException(e.getCause());
        } catch (TimeoutException e) {
            inbox.close();
            throw new RedisException("a subscription was not confirmed within " + limit, e);
        } catch (RuntimeException e) {
            inbox.close();
            throw e;
        }
    }

    @Override
    public Optional<Push> ready(String resource) {
        return Optional.of(Push.PUBLISH);
    }

    @Override
    public CompletableFuture<Push> listen(String resource) {
        return CompletableFuture.completedFuture(Push.PUBLISH);
    }

    @Override
    public CompletableFuture<?> listen() {
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public void leave(String resource) {}

    @Override
    public void message(String from, String text) {
        if (from.equals(channel)) {
            waiters.message(text);
        }
    }

    @Override
    public void subscribed(String to, long count) {
        if (to.equals(channel) && open) {
            waiters.askAgain();
        }
    }

    @Override
    public void onRedisDisconnected(RedisChannelHandler<?, ?> closed) {
        waiters.disconnected();
    }

    @Override
    public void close() {
        detach();
        if (connection.isOpen()) {
            // Not awaited: a server that does not answer must not delay the end of the store.
            var unused = connection.async().unsubscribe(channel);
        }
        end.run();
    }

    private void detach() {
        connection.removeListener((RedisConnectionStateListener) this);
        connection.removeListener((RedisPubSubListener<String, String>) this);
    }
}
