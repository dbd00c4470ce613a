package dev.latchkey.redis;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.MaintNotificationsConfig;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SocketOptions.KeepAliveOptions;
import io.lettuce.core.SocketOptions.TcpUserTimeoutOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.resource.EpollProvider;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Creates clients of the driver that belong to a store and are closed with it. */
final class Clients {

    private static final long QUIET_MILLIS = 10;
    private static final long LONGEST_SHUTDOWN_MILLIS = 2_000;
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(3);
    /** How long the driver goes on with each step of connecting when nobody answers, unless the DSN sets a limit. */
    static final Duration HANDSHAKE_TIMEOUT = Duration.ofSeconds(5);

    /** After so long without an expected answer, a connection counts as lost. */
    private static final Duration LONGEST_SILENCE = Duration.ofSeconds(20);

    /** A subscriber sends nothing. Without keepalive, it would take two hours to notice that a firewall has dropped the connection. */
    private static final KeepAliveOptions KEEP_ALIVE = KeepAliveOptions.builder()
            .enable()
            .idle(Duration.ofSeconds(10))
            .interval(Duration.ofSeconds(3))
            .count(3)
            .build();

    private Clients() {}

    /** Returns connections to one server, or to the master that sentinels name. */
    static Connections server(RedisURI address) {
        DriverThreads threads = DriverThreads.take();
        RedisClient client = RedisClient.create(threads.resources(), address);
        client.setOptions(options(ClientOptions.builder()).build());
        return Connections.of(client).endingWith(() -> end(client, threads));
    }

    /** Returns connections to a cluster, found through any of its servers. */
    static Connections cluster(List<RedisURI> addresses) {
        DriverThreads threads = DriverThreads.take();
        RedisClusterClient client = RedisClusterClient.create(threads.resources(), addresses);
        client.setOptions(clusterOptions());
        return Connections.of(client).endingWith(() -> end(client, threads));
    }

    /** With what Lettuce 7 does by default, and would rather not be told, and Lettuce 6 does not. */
    @SuppressWarnings("deprecation")
    static ClusterClientOptions clusterOptions() {
        ClusterClientOptions.Builder options = ClusterClientOptions.builder();
        options(options);
        return options.topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
                        // Without these it would hear of a failover by the periodic refresh alone.
                        .enableAllAdaptiveRefreshTriggers()
                        .adaptiveRefreshTriggersTimeout(Duration.ofSeconds(1))
                        .enablePeriodicRefresh(Duration.ofSeconds(30))
                        .build())
                .build();
    }

    private static ClientOptions.Builder options(ClientOptions.Builder options) {
        try {
            Maintenance.ignore(options);
        } catch (LinkageError e) {
            // Lettuce 6 has no such notifications.
        }
        return options.replayFilter(ScriptCall::endIfNotRepeatable)
                // If the driver kept commands until it is connected again, abandoned ones would fill the memory in a
                // long outage. The store sends again what a caller still waits for; the driver, what was in flight.
                .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                .socketOptions(SocketOptions.builder()
                        .connectTimeout(CONNECT_TIMEOUT)
                        .keepAlive(KEEP_ALIVE)
                        .tcpUserTimeout(unacknowledged())
                        .build());
    }

    /** Limits how long sent data may stay unacknowledged. Only the native transport can do that. */
    private static TcpUserTimeoutOptions unacknowledged() {
        return TcpUserTimeoutOptions.builder()
                .enable(EpollProvider.isAvailable())
                .tcpUserTimeout(LONGEST_SILENCE)
                .build();
    }

    /**
     * Not awaited: the threads of the driver end a moment later. The quiet period lets them close the sockets, which would
     * otherwise stay open until they are garbage-collected.
     */
    private static void end(AbstractRedisClient client, DriverThreads threads) {
        var unused = client.shutdownAsync(QUIET_MILLIS, LONGEST_SHUTDOWN_MILLIS, TimeUnit.MILLISECONDS)
                .whenComplete((done, failure) -> threads.giveBack());
    }

    /** A class of its own, so that the rest can be loaded without the classes of Lettuce 7. */
    private static final class Maintenance {

        static void ignore(ClientOptions.Builder options) {
            options.maintNotificationsConfig(MaintNotificationsConfig.disabled());
        }
    }
}
