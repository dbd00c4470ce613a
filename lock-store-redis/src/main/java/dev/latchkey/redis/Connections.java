package dev.latchkey.redis;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.function.Consumer;

/** Where the connections of a store come from, and what ends with it. */
interface Connections {

    /** Opens what commands are sent by; called again only after it failed. Keys and values are encoded before, so its codec does not matter. */
    StatefulConnection<byte[], byte[]> commands();

    /**
     * Opens what messages arrive by; called again only after it failed.
     *
     * @param limit how long the server's answer is waited for
     */
    NotificationChannel inbox(KeyNames names, String id, MessageHandler mail, Duration limit);

    /** Whether all commands go to the same server. */
    boolean isOneServer();

    /** Whether they are the store's, and may be made anew one by one. Those to a cluster find its servers by themselves. */
    boolean areOurs();

    /** Ends a connection that {@link #commands()} has opened. */
    void close(StatefulConnection<byte[], byte[]> commands);

    /** Ends what was there before the store, if the store is to end it. */
    void close();

    /** Over a client: the connections are the store's. */
    static Connections of(RedisClient client) {
        return new Connections() {
            @Override
            public StatefulConnection<byte[], byte[]> commands() {
                return client.connect(ByteArrayCodec.INSTANCE);
            }

            @Override
            public boolean isOneServer() {
                return true;
            }

            @Override
            public boolean areOurs() {
                return true;
            }

            @Override
            public NotificationChannel inbox(KeyNames names, String id, MessageHandler mail, Duration limit) {
                StatefulRedisPubSubConnection<String, String> connection = client.connectPubSub(StringCodec.UTF8);
                return PubSubChannel.open(connection, names.channel(id), mail, () -> end(connection), limit);
            }

            @Override
            public void close(StatefulConnection<byte[], byte[]> commands) {
                end(commands);
            }

            @Override
            public void close() {}
        };
    }

    /** Over the client of a cluster: the connections are the store's. */
    static Connections of(RedisClusterClient client) {
        return new Connections() {
            @Override
            public StatefulConnection<byte[], byte[]> commands() {
                return client.connect(ByteArrayCodec.INSTANCE);
            }

            @Override
            public boolean isOneServer() {
                return false;
            }

            @Override
            public boolean areOurs() {
                return false;
            }

            @Override
            public NotificationChannel inbox(KeyNames names, String id, MessageHandler mail, Duration limit) {
                client.getPartitions();
                return new ShardedPubSubChannel(
                        TimedConnect.await(client.connectPubSubAsync(StringCodec.UTF8)), names, id, mail);
            }

            @Override
            public void close(StatefulConnection<byte[], byte[]> commands) {
                end(commands);
            }

            @Override
            public void close() {}
        };
    }

    /** Over connections that stay the caller's. */
    static Connections of(
            StatefulRedisConnection<?, ?> commands, StatefulRedisPubSubConnection<String, String> messages) {
        return new Connections() {
            @Override
            @SuppressWarnings("unchecked")
            public StatefulConnection<byte[], byte[]> commands() {
                return (StatefulConnection<byte[], byte[]>) commands;
            }

            @Override
            public boolean isOneServer() {
                return true;
            }

            @Override
            public boolean areOurs() {
                return false;
            }

            @Override
            public NotificationChannel inbox(KeyNames names, String id, MessageHandler mail, Duration limit) {
                return PubSubChannel.open(messages, names.channel(id), mail, () -> {}, limit);
            }

            @Override
            public void close(StatefulConnection<byte[], byte[]> open) {}

            @Override
            public void close() {}
        };
    }

    /** Ends a connection, unless the application has ended its client before the store: the driver would warn of that. */
    static void end(StatefulConnection<?, ?> connection) {
        boolean isEnded = connection instanceof RedisChannelHandler<?, ?> handler && handler.isClosed();
        if (!isEnded) {
            connection.close();
        }
    }

    /** The same, ending the client as well. */
    static Connections owning(Connections connections, Runnable end) {
        return wrapping(connections, opened -> {}, end);
    }

    /**
     * The same, looking at what commands are sent by before it is used.
     *
     * @param look throws what it does not accept
     * @param end what to do in the end
     */
    static Connections wrapping(
            Connections connections, Consumer<StatefulConnection<byte[], byte[]>> look, Runnable end) {
        return new Connections() {
            @Override
            public StatefulConnection<byte[], byte[]> commands() {
                StatefulConnection<byte[], byte[]> opened = connections.commands();
                try {
                    look.accept(opened);
                    return opened;
                } catch (RuntimeException e) {
                    connections.close(opened);
                    throw e;
                }
            }

            @Override
            public boolean isOneServer() {
                return connections.isOneServer();
            }

            @Override
            public boolean areOurs() {
                return connections.areOurs();
            }

            @Override
            public NotificationChannel inbox(KeyNames names, String id, MessageHandler mail, Duration limit) {
                return connections.inbox(names, id, mail, limit);
            }

            @Override
            public void close(StatefulConnection<byte[], byte[]> commands) {
                connections.close(commands);
            }

            @Override
            public void close() {
                end.run();
            }
        };
    }
}
