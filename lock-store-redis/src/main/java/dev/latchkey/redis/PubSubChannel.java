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

/** One subscription for the whole life of a store. */
final class PubSubChannel extends RedisPubSubAdapter<String, String>
        implements NotificationChannel, RedisConnectionStateListener {

    private final StatefulRedisPubSubConnection<String, String> connection;
    private final String channel;
    private final MessageHandler mail;
    private final Runnable end;
    private volatile boolean open;

    private PubSubChannel(
            StatefulRedisPubSubConnection<String, String> connection,
            String channel,
            MessageHandler mail,
            Runnable end) {
        this.connection = connection;
        this.channel = channel;
        this.mail = mail;
        this.end = end;
    }

    /**
     * Subscribes, and returns once the server has confirmed it.
     *
     * @param end what ends the connection, if that is the store's
     * @param limit how long the confirmation is waited for
     * @throws io.lettuce.core.RedisException if the server cannot be asked, or does not allow it
     */
    static PubSubChannel open(
            StatefulRedisPubSubConnection<String, String> connection,
            String channel,
            MessageHandler mail,
            Runnable end,
            Duration limit) {
        PubSubChannel inbox = new PubSubChannel(connection, channel, mail, end);
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
        }
    }

    @Override
    public Optional<GrantMessage> ready(String resource) {
        return Optional.of(GrantMessage.PUBLISH);
    }

    @Override
    public CompletableFuture<GrantMessage> listen(String resource) {
        return CompletableFuture.completedFuture(GrantMessage.PUBLISH);
    }

    @Override
    public void leave(String resource) {}

    @Override
    public void message(String from, String text) {
        if (from.equals(channel)) {
            mail.message(text);
        }
    }

    @Override
    public void subscribed(String to, long count) {
        if (to.equals(channel) && open) {
            mail.missed();
        }
    }

    @Override
    public void onRedisDisconnected(RedisChannelHandler<?, ?> closed) {
        mail.disconnected();
    }

    @Override
    public void close() {
        detach();
        if (connection.isOpen()) {
            // Not awaited: a server that does not answer must not keep the store from closing.
            var unused = connection.async().unsubscribe(channel);
        }
        end.run();
    }

    private void detach() {
        connection.removeListener((RedisConnectionStateListener) this);
        connection.removeListener((RedisPubSubListener<String, String>) this);
    }
}
