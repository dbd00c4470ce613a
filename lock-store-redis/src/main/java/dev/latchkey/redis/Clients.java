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

/** Clients of the driver that belong to a store and end with it. */
final class Clients {

    private static final long QUIET_MILLIS = 10;
    private static final long LONGEST_SHUTDOWN_MILLIS = 2_000;
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(3);
    private static final Duration HANDSHAKE_TIMEOUT = Duration.ofSeconds(5);

    /** How long a connection may be silent on which something is expected, until it counts as lost. */
    private static final Duration LONGEST_SILENCE = Duration.ofSeconds(20);

    /** Who listens sends nothing: without it, a connection that a firewall has forgotten would be noticed after two hours. */
    private static final KeepAliveOptions KEEP_ALIVE = KeepAliveOptions.builder()
            .enable()
            .idle(Duration.ofSeconds(10))
            .interval(Duration.ofSeconds(3))
            .count(3)
            .build();

    private Clients() {}

    /** Connections to one server, or to the master that sentinels name. */
    static Connections server(RedisURI address) {
        limit(address);
        DriverThreads threads = DriverThreads.take();
        RedisClient client = RedisClient.create(threads.resources(), address);
        client.setOptions(options(ClientOptions.builder()).build());
        return Connections.owning(Connections.of(client), () -> end(client, threads));
    }

    /** Connections to a cluster, found through any of its servers. */
    static Connections cluster(List<RedisURI> addresses) {
        addresses.forEach(Clients::limit);
        DriverThreads threads = DriverThreads.take();
        RedisClusterClient client = RedisClusterClient.create(threads.resources(), addresses);
        ClusterClientOptions.Builder options = ClusterClientOptions.builder();
        options(options);
        client.setOptions(options.topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
                        .adaptiveRefreshTriggersTimeout(Duration.ofSeconds(1))
                        .enablePeriodicRefresh(Duration.ofSeconds(30))
                        .build())
                .build());
        return Connections.owning(Connections.of(client), () -> end(client, threads));
    }

    /** How long the driver goes on connecting when nobody answers, unless the DSN says it: it can be tried again then. */
    private static void limit(RedisURI address) {
        if (address.getTimeout().equals(RedisURI.DEFAULT_TIMEOUT_DURATION)) {
            address.setTimeout(HANDSHAKE_TIMEOUT);
        }
    }

    private static ClientOptions.Builder options(ClientOptions.Builder options) {
        try {
            Maintenance.ignore(options);
        } catch (LinkageError e) {
            // Lettuce 6 knows of no such notifications.
        }
        return options.replayFilter(ScriptCall::endIfNotRepeatable)
                // Kept until the connection is back, those that were given up would fill the memory in a long outage.
                // What is
                // still waited for is sent again by us; what was under way when the connection was lost, by the driver.
                .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                .socketOptions(SocketOptions.builder()
                        .connectTimeout(CONNECT_TIMEOUT)
                        .keepAlive(KEEP_ALIVE)
                        .tcpUserTimeout(unacknowledged())
                        .build());
    }

    /** For what was sent and not acknowledged. Only the native transport can; with the other, what is asked next finds out. */
    private static TcpUserTimeoutOptions unacknowledged() {
        return TcpUserTimeoutOptions.builder()
                .enable(EpollProvider.isAvailable())
                .tcpUserTimeout(LONGEST_SILENCE)
                .build();
    }

    /**
     * Not awaited: the driver's threads end by themselves a moment later. The quiet period lets them give the sockets back,
     * which would else stay open until the garbage is collected.
     */
    private static void end(AbstractRedisClient client, DriverThreads threads) {
        var unused = client.shutdownAsync(QUIET_MILLIS, LONGEST_SHUTDOWN_MILLIS, TimeUnit.MILLISECONDS)
                .whenComplete((done, failure) -> threads.giveBack());
    }

    /** Apart, so that the rest can be loaded without the classes of Lettuce 7. */
    private static final class Maintenance {

        static void ignore(ClientOptions.Builder options) {
            options.maintNotificationsConfig(MaintNotificationsConfig.disabled());
        }
    }
}
