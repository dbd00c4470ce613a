package dev.latchkey.redis;

import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterURIUtil;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

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

    private static final String PREFIX = "prefix";
    private static final String HASH_TAG = "hash-tag";
    private static final String SENTINEL_USER = "sentinel-user";
    private static final String SENTINEL_PASSWORD = "sentinel-password";
    private static final String STRICT = "strict";
    private static final String TIMEOUT = "timeout";
    /** The options that the driver does not know, or knows without units. */
    private static final Set<String> OURS = Set.of(PREFIX, HASH_TAG, STRICT, TIMEOUT, SENTINEL_USER, SENTINEL_PASSWORD);
    /** Those that are passed on to it: it takes no notice of what it does not know. */
    private static final Set<String> DRIVERS = Set.of("verifyPeer", "clientName", "database");

    private static final Pattern TIME = Pattern.compile("([1-9][0-9]{0,8})(ms|s|m|h)");

    private static final String ONE_HOST = "(\\[[0-9a-fA-F:.%]+]|[^:,\\s\\[\\]]+)(:[0-9]{1,5})?";
    private static final Pattern HOST = Pattern.compile(ONE_HOST);
    private static final Pattern HOSTS = Pattern.compile(ONE_HOST + "(," + ONE_HOST + ")*");

    private static final String RIGHT = "write redis://[user:password@]host[:port][/database], rediss:// for TLS, "
            + "redis-sentinel://host,host/0#master or redis-cluster://host,host, with ?prefix=… for a key prefix; "
            + "in user and password, all but letters and digits as %xx";

    private final String scheme;
    private final Map<String, String> options;
    private final URI uri;

    private Dsn(String scheme, Map<String, String> options, URI uri) {
        this.scheme = scheme;
        this.options = options;
        this.uri = uri;
    }

    static RedisStore open(String text) {
        Dsn dsn = parse(text);
        // Before anything is opened that would have to be closed.
        Optional<Duration> timeout = dsn.timeout();
        boolean isStrict = dsn.isStrict();
        RedisStore.Builder store = dsn.scheme.endsWith("-cluster") ? dsn.cluster() : dsn.server();
        dsn.option(PREFIX).ifPresent(store::keyPrefix);
        dsn.option(HASH_TAG).ifPresent(store::hashTag);
        timeout.ifPresent(store::commandTimeout);
        return isStrict ? store.strict().build() : store.build();
    }

    private Optional<String> option(String name) {
        return Optional.ofNullable(options.get(name));
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
        Map<String, String> ours = new HashMap<>();
        String place = question < 0 ? address : address.substring(0, question);
        checkHosts(scheme, place);
        checkPlace(scheme, place, fragment);
        String query = question < 0 ? "" : take(ours, address.substring(question + 1));
        checkSentinelOptions(scheme, ours);
        return new Dsn(scheme, ours, uri(driverScheme(scheme) + "://" + place + query + fragment));
    }

    /** Takes our options, and returns what is left for the driver. */
    private static String take(Map<String, String> ours, String query) {
        Set<String> seen = new HashSet<>();
        List<String> left = new ArrayList<>();
        for (String option : query.split("&", -1)) {
            int equals = option.indexOf('=');
            String name = equals < 0 ? option : option.substring(0, equals);
            if (!OURS.contains(name) && !DRIVERS.contains(name)) {
                if (query.contains("@")) {
                    // It may be the rest of a password that was written as it is.
                    throw wrong();
                }
                throw new IllegalArgumentException("unknown option \"" + name + "\" of a Redis server: the options are "
                        + new TreeSet<>(OURS) + " and " + new TreeSet<>(DRIVERS));
            }
            if (equals < 0 || equals + 1 == option.length() || !seen.add(name)) {
                throw new IllegalArgumentException("the option " + name + " takes one value, as in " + name + "=…");
            }
            if (OURS.contains(name)) {
                ours.put(name, decoded(option.substring(equals + 1)));
            } else {
                left.add(option);
            }
        }
        return left.isEmpty() ? "" : '?' + String.join("&", left);
    }

    private Optional<Duration> timeout() {
        return option(TIMEOUT).map(text -> {
            Matcher time = TIME.matcher(text);
            if (!time.matches()) {
                throw new IllegalArgumentException("timeout \"" + text
                        + "\": must be a number with its unit, which is one" + " of ms, s, m and h, as in timeout=5s");
            }
            long amount = Long.parseLong(time.group(1));
            return switch (time.group(2)) {
                case "ms" -> Duration.ofMillis(amount);
                case "s" -> Duration.ofSeconds(amount);
                case "m" -> Duration.ofMinutes(amount);
                default -> Duration.ofHours(amount);
            };
        });
    }

    private boolean isStrict() {
        return switch (option(STRICT).orElse("false")) {
            case "true" -> true;
            case "false" -> false;
            default -> throw new IllegalArgumentException("strict must be true or false");
        };
    }

    private static String decoded(String value) {
        try {
            return URLDecoder.decode(value, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw wrong();
        }
    }

    private static void checkHosts(String scheme, String address) {
        int path = address.indexOf('/', address.lastIndexOf('@') + 1);
        String hosts = address.substring(address.lastIndexOf('@') + 1, path < 0 ? address.length() : path);
        Pattern right = scheme.endsWith("-sentinel") || scheme.endsWith("-cluster") ? HOSTS : HOST;
        if (!right.matcher(hosts).matches()) {
            throw wrong();
        }
    }

    /** What the driver would drop without a word. */
    private static void checkPlace(String scheme, String address, String fragment) {
        if (!scheme.endsWith("-sentinel") && !fragment.isEmpty()) {
            throw wrong();
        }
        int path = address.indexOf('/', address.lastIndexOf('@') + 1);
        if (scheme.endsWith("-cluster") && path >= 0 && !address.substring(path).matches("/0?")) {
            throw new IllegalArgumentException("a Redis cluster has no databases but 0: " + RIGHT);
        }
    }

    private static void checkSentinelOptions(String scheme, Map<String, String> options) {
        boolean hasUser = options.containsKey(SENTINEL_USER);
        boolean hasPassword = options.containsKey(SENTINEL_PASSWORD);
        if ((hasUser || hasPassword) && !scheme.endsWith("-sentinel")) {
            throw new IllegalArgumentException(SENTINEL_USER + " and " + SENTINEL_PASSWORD
                    + " are for redis-sentinel:// and rediss-sentinel:// alone: leave them out");
        }
        if (hasUser && !hasPassword) {
            throw new IllegalArgumentException(SENTINEL_USER + " needs " + SENTINEL_PASSWORD + " as well");
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
        timeout().ifPresent(address::setTimeout);
        option(SENTINEL_PASSWORD)
                .ifPresent(password -> logInAtSentinels(address, options.get(SENTINEL_USER), password));
        return new RedisStore.Builder(Clients.server(address)).server(described(address));
    }

    /** The user and password of the address are those of the master. */
    private static void logInAtSentinels(RedisURI address, @Nullable String user, String password) {
        RedisCredentials credentials = RedisCredentials.just(user, password);
        address.getSentinels()
                .forEach(sentinel -> sentinel.setCredentialsProvider(RedisCredentialsProvider.from(() -> credentials)));
    }

    private RedisStore.Builder cluster() {
        List<RedisURI> addresses;
        try {
            addresses = RedisClusterURIUtil.toRedisURIs(uri);
        } catch (RuntimeException e) {
            throw wrong();
        }
        timeout().ifPresent(timeout -> addresses.forEach(address -> address.setTimeout(timeout)));
        return new RedisStore.Builder(Clients.cluster(addresses))
                .server("the Redis cluster of " + described(addresses.get(0)));
    }

    private static String described(RedisURI address) {
        return address.getSentinelMasterId() == null
                ? address.getHost() + ":" + address.getPort()
                : "the Redis master " + address.getSentinelMasterId();
    }
}
