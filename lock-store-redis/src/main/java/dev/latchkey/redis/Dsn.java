package dev.latchkey.redis;

import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterURIUtil;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A parsed DSN of this store. Creates the client that it names, which the store owns. */
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

    private static final String ONE_HOST = "(?:\\[[0-9a-fA-F:.%]+]|[^:,\\s\\[\\]]+)(?::[0-9]{1,5})?";
    private static final Pattern HOST = Pattern.compile(ONE_HOST);

    /** Possessive: otherwise each host takes a level of the stack. */
    private static final Pattern HOSTS = Pattern.compile(ONE_HOST + "(?:," + ONE_HOST + ")*+");

    private static final String RIGHT = "write redis://[user:password@]host[:port][/database], rediss:// for TLS, "
            + "redis-sentinel://host,host/0#master or redis-cluster://host,host, with ?prefix=… for a key prefix; "
            + "in user and password, all but letters and digits as %xx";

    private final String scheme;
    private final DsnOptions options;
    private final URI uri;

    private Dsn(String scheme, DsnOptions options, URI uri) {
        this.scheme = scheme;
        this.options = options;
        this.uri = uri;
    }

    static RedisStore open(String text) {
        Dsn dsn = parse(text);
        boolean isCluster = dsn.isCluster();
        List<RedisURI> addresses = dsn.addresses();
        String server = (isCluster ? "the Redis cluster of " : "") + described(addresses.get(0));
        Connections connections = isCluster ? Clients.cluster(addresses) : Clients.server(addresses.get(0));
        try {
            return dsn.options.store(new RedisStore.Builder(connections).server(server));
        } catch (RuntimeException e) {
            // The client has threads already.
            connections.close();
            throw e;
        }
    }

    static Dsn parse(String text) {
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
        String place = question < 0 ? address : address.substring(0, question);
        checkHosts(scheme, place);
        if (!scheme.endsWith("-sentinel") && !fragment.isEmpty()) {
            throw wrong();
        }
        DsnOptions options = question < 0 ? DsnOptions.NONE : DsnOptions.parse(address.substring(question + 1));
        options.checkSentinels(scheme);
        checkDatabase(scheme, place, options.text(DsnOptions.DATABASE));
        return new Dsn(scheme, options, uri(driverScheme(scheme) + "://" + place + options.forTheDriver() + fragment));
    }

    private static void checkHosts(String scheme, String address) {
        int path = address.indexOf('/', address.lastIndexOf('@') + 1);
        String hosts = address.substring(address.lastIndexOf('@') + 1, path < 0 ? address.length() : path);
        Pattern right = scheme.endsWith("-sentinel") || scheme.endsWith("-cluster") ? HOSTS : HOST;
        if (!right.matcher(hosts).matches()) {
            throw wrong();
        }
    }

    /** Refuses what the driver would silently ignore: clients in different databases do not see each other's locks. */
    private static void checkDatabase(String scheme, String address, Optional<String> option) {
        int path = address.indexOf('/', address.lastIndexOf('@') + 1);
        String named = path < 0 ? "" : address.substring(path + 1);
        String database = option.orElse(named);
        if (scheme.endsWith("-cluster") && !database.matches("0?")) {
            throw new IllegalArgumentException("a Redis cluster has no databases but 0: " + RIGHT);
        }
        if (option.isPresent() && (!database.matches("[0-9]{1,9}") || !(named.isEmpty() || named.equals(database)))) {
            throw new IllegalArgumentException(
                    "the option database must be a number, and that of the path if there is one: " + RIGHT);
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

    /** Has no cause, which would repeat the DSN and its password. */
    static IllegalArgumentException wrong() {
        return new IllegalArgumentException("not a DSN of a Redis server: " + RIGHT);
    }

    private boolean isCluster() {
        return scheme.endsWith("-cluster");
    }

    List<RedisURI> addresses() {
        return isCluster() ? cluster() : List.of(server());
    }

    private RedisURI server() {
        RedisURI address;
        try {
            address = RedisURI.create(uri);
        } catch (RuntimeException e) {
            throw wrong();
        }
        address.setTimeout(options.timeout().orElse(Clients.HANDSHAKE_TIMEOUT));
        String user = options.text(DsnOptions.SENTINEL_USER).orElse(null);
        options.text(DsnOptions.SENTINEL_PASSWORD).ifPresent(password -> logInAtSentinels(address, user, password));
        return address;
    }

    /** User and password of the address are those of the master. */
    private static void logInAtSentinels(RedisURI address, @Nullable String user, String password) {
        RedisCredentials credentials = RedisCredentials.just(user, password);
        address.getSentinels()
                .forEach(sentinel -> sentinel.setCredentialsProvider(RedisCredentialsProvider.from(() -> credentials)));
    }

    private List<RedisURI> cluster() {
        List<RedisURI> addresses;
        try {
            addresses = RedisClusterURIUtil.toRedisURIs(uri);
        } catch (RuntimeException e) {
            throw wrong();
        }
        Duration timeout = options.timeout().orElse(Clients.HANDSHAKE_TIMEOUT);
        addresses.forEach(address -> address.setTimeout(timeout));
        options.text(DsnOptions.CLIENT_NAME)
                .ifPresent(name -> addresses.forEach(address -> address.setClientName(name)));
        return addresses;
    }

    private static String described(RedisURI address) {
        return address.getSentinelMasterId() == null
                ? address.getHost() + ":" + address.getPort()
                : "the Redis master " + address.getSentinelMasterId();
    }
}
