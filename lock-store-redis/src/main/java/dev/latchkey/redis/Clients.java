package dev.latchkey.redis;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.MaintNotificationsConfig;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Clients of the driver that belong to a store and end with it. */
final class Clients {

    private static final long QUIET_MILLIS = 10;
    private static final long LONGEST_SHUTDOWN_MILLIS = 2_000;
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(3);
    private static final Duration HANDSHAKE_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration LONGEST_RECONNECT_PAUSE = Duration.ofSeconds(1);

    private Clients() {}

    /** Connections to one server, or to the master that sentinels name. */
    static Connections server(RedisURI address) {
        limit(address);
        ClientResources resources = resources();
        RedisClient client = RedisClient.create(resources, address);
        client.setOptions(options(ClientOptions.builder()).build());
        return Connections.owning(Connections.of(client), () -> end(client, resources));
    }

    /** Connections to a cluster, found through any of its servers. */
    static Connections cluster(List<RedisURI> addresses) {
        addresses.forEach(Clients::limit);
        ClientResources resources = resources();
        RedisClusterClient client = RedisClusterClient.create(resources, addresses);
        ClusterClientOptions.Builder options = ClusterClientOptions.builder();
        options(options);
        client.setOptions(options.topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
                        .adaptiveRefreshTriggersTimeout(Duration.ofSeconds(1))
                        .enablePeriodicRefresh(Duration.ofSeconds(30))
                        .build())
                .build());
        return Connections.owning(Connections.of(client), () -> end(client, resources));
    }

    /** How long the driver goes on connecting when nobody answers, unless the DSN says it: it can be tried again then. */
    private static void limit(RedisURI address) {
        if (address.getTimeout().equals(RedisURI.DEFAULT_TIMEOUT_DURATION)) {
            address.setTimeout(HANDSHAKE_TIMEOUT);
        }
    }

    private static ClientResources resources() {
        return ClientResources.builder()
                .ioThreadPoolSize(2)
                .computationThreadPoolSize(2)
                .reconnectDelay(Delay.exponential(Duration.ZERO, LONGEST_RECONNECT_PAUSE, 2, TimeUnit.MILLISECONDS))
                .build();
    }

    private static ClientOptions.Builder options(ClientOptions.Builder options) {
        return options.replayFilter(Call::endIfNotRepeatable)
                .maintNotificationsConfig(MaintNotificationsConfig.disabled())
                .socketOptions(SocketOptions.builder()
                        .connectTimeout(CONNECT_TIMEOUT)
                        .keepAlive(true)
                        .build());
    }

    /**
     * Not awaited: the driver's threads end by themselves a moment later. The quiet period lets them give the sockets back,
     * which would else stay open until the garbage is collected.
     */
    private static void end(AbstractRedisClient client, ClientResources resources) {
        var unused = client.shutdownAsync(QUIET_MILLIS, LONGEST_SHUTDOWN_MILLIS, TimeUnit.MILLISECONDS)
                .whenComplete((done, failure) -> end(resources));
    }

    private static void end(ClientResources resources) {
        var unused = resources.shutdown(QUIET_MILLIS, LONGEST_SHUTDOWN_MILLIS, TimeUnit.MILLISECONDS);
    }
}
