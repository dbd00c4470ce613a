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
import java.util.function.Supplier;

/** Opens the connections of a store, and closes what ends with it. */
final class Connections {

    private enum Kind {
        SERVER,
        CLUSTER,
        OF_THE_CALLER
    }

    private interface Inbox {
        NotificationChannel open(KeyNames names, WaiterRegistry waiters, Duration limit);
    }

    private final Kind kind;
    private final Supplier<StatefulConnection<byte[], byte[]>> commands;
    private final Inbox inbox;
    private final Runnable end;

    private Connections(Kind kind, Supplier<StatefulConnection<byte[], byte[]>> commands, Inbox inbox, Runnable end) {
        this.kind = kind;
        this.commands = commands;
        this.inbox = inbox;
        this.end = end;
    }

    /** Opens connections with a client, which stays open. */
    static Connections of(RedisClient client) {
        Inbox inbox = (names, waiters, limit) -> {
            StatefulRedisPubSubConnection<String, String> connection = client.connectPubSub(StringCodec.UTF8);
            return PubSubChannel.open(connection, names, waiters, () -> end(connection), limit);
        };
        return new Connections(Kind.SERVER, () -> client.connect(ByteArrayCodec.INSTANCE), inbox, () -> {});
    }

    /** Opens connections with the client of a cluster, which stays open. */
    static Connections of(RedisClusterClient client) {
        Inbox inbox = (names, waiters, limit) -> {
            // Without them, the driver refuses to connect.
            client.getPartitions();
            return new ShardedPubSubChannel(
                    TimedConnect.await(client.connectPubSubAsync(StringCodec.UTF8)), names, waiters);
        };
        return new Connections(Kind.CLUSTER, () -> connected(client), inbox, () -> {});
    }

    private static StatefulConnection<byte[], byte[]> connected(RedisClusterClient client) {
        client.getPartitions();
        return TimedConnect.await(client.connectAsync(ByteArrayCodec.INSTANCE));
    }

    /** Uses connections that belong to the caller. Their codec does not matter: what is sent is encoded already. */
    @SuppressWarnings("unchecked")
    static Connections of(
            StatefulRedisConnection<?, ?> commands, StatefulRedisPubSubConnection<String, String> messages) {
        return new Connections(
                Kind.OF_THE_CALLER,
                () -> (StatefulConnection<byte[], byte[]>) commands,
                (names, waiters, limit) -> PubSubChannel.open(messages, names, waiters, () -> {}, limit),
                () -> {});
    }

    /** Returns the same connections; their end also runs this. */
    Connections endingWith(Runnable other) {
        return new Connections(kind, commands, inbox, () -> {
            end.run();
            other.run();
        });
    }

    /**
     * Returns the same connections, with a check of each connection for commands.
     *
     * @param check throws an exception if the connection must not be used
     */
    Connections checkedBy(Consumer<StatefulConnection<byte[], byte[]>> check) {
        return new Connections(
                kind,
                () -> {
                    StatefulConnection<byte[], byte[]> opened = commands.get();
                    try {
                        check.accept(opened);
                        return opened;
                    } catch (RuntimeException e) {
                        close(opened);
                        throw e;
                    }
                },
                inbox,
                end);
    }

    /** Opens the connection for commands. */
    StatefulConnection<byte[], byte[]> commands() {
        return commands.get();
    }

    /**
     * Opens the channel that messages arrive in.
     *
     * @param limit how long the answer of the server is waited for
     */
    NotificationChannel inbox(KeyNames names, WaiterRegistry waiters, Duration limit) {
        return inbox.open(names, waiters, limit);
    }

    /** Whether all commands go to the same server. */
    boolean isOneServer() {
        return kind != Kind.CLUSTER;
    }

    /** Whether the store may open another connection in place of one. A connection to a cluster finds its servers by itself. */
    boolean areReplaceable() {
        return kind == Kind.SERVER;
    }

    /** Closes a connection that {@link #commands()} has opened, unless it belongs to the caller. */
    void close(StatefulConnection<byte[], byte[]> opened) {
        if (kind != Kind.OF_THE_CALLER) {
            end(opened);
        }
    }

    /** Closes what the store owns besides the connections, such as their client. */
    void close() {
        end.run();
    }

    /** Closes a connection. If the application has closed its client before the store, the driver would warn of that. */
    static void end(StatefulConnection<?, ?> connection) {
        boolean isEnded = connection instanceof RedisChannelHandler<?, ?> handler && handler.isClosed();
        if (!isEnded) {
            connection.close();
        }
    }
}
