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
import io.lettuce.core.cluster.RedisClusterURIUtil;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/** A DSN of this store, and the client it stands for, which the store owns. */
final class Dsn {

    static final Set<String> SCHEMES = Set.of(
            "redis",
            "rediss",
            "valkey",
            "valkeys",
            "redis-sentinel",
            "rediss-sentinel",
            "redis-cluster",
            "rediss-cluster");

    private static final long QUIET_MILLIS = 10;
    private static final long LONGEST_SHUTDOWN_MILLIS = 2_000;
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(3);
    private static final Duration HANDSHAKE_TIMEOUT = Duration.ofSeconds(5);

    private static final String ONE_HOST = "(\\[[0-9a-fA-F:.%]+]|[^:,\\s\\[\\]]+)(:[0-9]{1,5})?";
    private static final Pattern HOST = Pattern.compile(ONE_HOST);
    private static final Pattern HOSTS = Pattern.compile(ONE_HOST + "(," + ONE_HOST + ")*");

    private static final String RIGHT = "write redis://[user:password@]host[:port][/database], rediss:// for TLS, "
            + "redis-sentinel://host,host/0#master or redis-cluster://host,host, with ?prefix=… for a key prefix; "
            + "in user and password, all but letters and digits as %xx";

    private final String scheme;
    private final Optional<String> prefix;
    private final Optional<String> hashTag;
    private final URI uri;

    private Dsn(String scheme, Optional<String> prefix, Optional<String> hashTag, URI uri) {
        this.scheme = scheme;
        this.prefix = prefix;
        this.hashTag = hashTag;
        this.uri = uri;
    }

    static RedisStore open(String text) {
        Dsn dsn = parse(text);
        RedisStore.Builder store = dsn.scheme.endsWith("-cluster") ? dsn.cluster() : dsn.server();
        dsn.prefix.ifPresent(store::keyPrefix);
        dsn.hashTag.ifPresent(store::hashTag);
        return store.build();
    }

    private static Dsn parse(String text) {
        int colon = text.indexOf("://");
        if (colon < 0 || text.length() == colon + 3) {
            throw new IllegalArgumentException("a DSN of a Redis server needs its address: " + RIGHT);
        }
        String scheme = text.substring(0, colon);
        String rest = text.substring(colon + 3);
        int hash = rest.indexOf('#');
        String fragment = hash < 0 ? "" : rest.substring(hash);
        String address = hash < 0 ? rest : rest.substring(0, hash);
        if (scheme.endsWith("-sentinel") && fragment.length() < 2) {
            throw new IllegalArgumentException("a DSN of sentinels ends with # and the name of the master: " + RIGHT);
        }
        int question = address.indexOf('?');
        List<String> options = new ArrayList<>();
        Optional<String> prefix = Optional.empty();
        Optional<String> hashTag = Optional.empty();
        if (question >= 0) {
            for (String option : address.substring(question + 1).split("&", -1)) {
                if (option.startsWith("prefix=")) {
                    prefix = Optional.of(decoded(option));
                } else if (option.startsWith("hash-tag=")) {
                    hashTag = Optional.of(decoded(option));
                } else {
                    options.add(option);
                }
            }
            address = address.substring(0, question);
        }
        checkHosts(scheme, address);
        String query = options.isEmpty() ? "" : '?' + String.join("&", options);
        return new Dsn(scheme, prefix, hashTag, uri(driverScheme(scheme) + "://" + address + query + fragment));
    }

    private static String decoded(String option) {
        return URLDecoder.decode(option.substring(option.indexOf('=') + 1), StandardCharsets.UTF_8);
    }

    private static void checkHosts(String scheme, String address) {
        int path = address.indexOf('/', address.lastIndexOf('@') + 1);
        String hosts = address.substring(address.lastIndexOf('@') + 1, path < 0 ? address.length() : path);
        Pattern right = scheme.endsWith("-sentinel") || scheme.endsWith("-cluster") ? HOSTS : HOST;
        if (!right.matcher(hosts).matches()) {
            throw wrong();
        }
    }

    private static String driverScheme(String scheme) {
        return switch (scheme) {
            case "valkey", "redis-cluster" -> "redis";
            case "valkeys", "rediss-cluster" -> "rediss";
            default -> scheme;
        };
    }

    private static URI uri(String text) {
        try {
            return URI.create(text);
        } catch (IllegalArgumentException e) {
            throw wrong();
        }
    }

    /** Without the cause: it would repeat the DSN, and with it a password. */
    private static IllegalArgumentException wrong() {
        return new IllegalArgumentException("not a DSN of a Redis server: " + RIGHT);
    }

    private RedisStore.Builder server() {
        RedisURI address;
        try {
            address = RedisURI.create(uri);
        } catch (RuntimeException e) {
            throw wrong();
        }
        limit(address);
        DriverThreads threads = DriverThreads.take();
        RedisClient client = RedisClient.create(threads.resources(), address);
        client.setOptions(options(ClientOptions.builder()).build());
        Connections connections = Connections.owning(Connections.of(client), () -> end(client, threads));
        return new RedisStore.Builder(connections).server(described(address));
    }

    private RedisStore.Builder cluster() {
        List<RedisURI> addresses;
        try {
            addresses = RedisClusterURIUtil.toRedisURIs(uri);
        } catch (RuntimeException e) {
            throw wrong();
        }
        addresses.forEach(Dsn::limit);
        DriverThreads threads = DriverThreads.take();
        RedisClusterClient client = RedisClusterClient.create(threads.resources(), addresses);
        ClusterClientOptions.Builder options = ClusterClientOptions.builder();
        options(options);
        client.setOptions(options.topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
                        .adaptiveRefreshTriggersTimeout(Duration.ofSeconds(1))
                        .enablePeriodicRefresh(Duration.ofSeconds(30))
                        .build())
                .build());
        Connections connections = Connections.owning(Connections.of(client), () -> end(client, threads));
        return new RedisStore.Builder(connections).server("the Redis cluster of " + described(addresses.get(0)));
    }

    /** How long the driver goes on connecting when nobody answers, unless the DSN says it: it can be tried again then. */
    private static void limit(RedisURI address) {
        if (address.getTimeout().equals(RedisURI.DEFAULT_TIMEOUT_DURATION)) {
            address.setTimeout(HANDSHAKE_TIMEOUT);
        }
    }

    /**
     * Not awaited: the driver's threads end by themselves a moment later. The quiet period lets them give the sockets back,
     * which would else stay open until the garbage is collected.
     */
    private static void end(AbstractRedisClient client, DriverThreads threads) {
        var unused = client.shutdownAsync(QUIET_MILLIS, LONGEST_SHUTDOWN_MILLIS, TimeUnit.MILLISECONDS)
                .whenComplete((done, failure) -> threads.giveBack());
    }

    private static String described(RedisURI address) {
        return address.getSentinelMasterId() == null
                ? address.getHost() + ":" + address.getPort()
                : "the Redis master " + address.getSentinelMasterId();
    }

    private static ClientOptions.Builder options(ClientOptions.Builder options) {
        return options.replayFilter(Call::endIfNotRepeatable)
                .maintNotificationsConfig(MaintNotificationsConfig.disabled())
                .socketOptions(SocketOptions.builder()
                        .connectTimeout(CONNECT_TIMEOUT)
                        .keepAlive(true)
                        .build());
    }
}
