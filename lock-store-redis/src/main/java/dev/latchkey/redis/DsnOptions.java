package dev.latchkey.redis;

import dev.latchkey.spi.DsnDuration;
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

/** The options of a DSN: those that the store reads, and those for the driver. */
final class DsnOptions {

    static final DsnOptions NONE = new DsnOptions(Map.of(), "");

    private static final String PREFIX = "prefix";
    private static final String HASH_TAG = "hash-tag";
    static final String SENTINEL_USER = "sentinel-user";
    static final String SENTINEL_PASSWORD = "sentinel-password";
    static final String CLIENT_NAME = "clientName";
    static final String DATABASE = "database";
    private static final String STRICT = "strict";
    private static final String TIMEOUT = "timeout";

    /** Options that the driver does not have, or has without units. */
    private static final Set<String> OURS = Set.of(PREFIX, HASH_TAG, STRICT, TIMEOUT, SENTINEL_USER, SENTINEL_PASSWORD);

    /** Options that are passed on to the driver, which ignores unknown ones. */
    private static final Set<String> DRIVERS = Set.of("verifyPeer", CLIENT_NAME, DATABASE);

    private final Map<String, String> values;
    private final String forTheDriver;

    private DsnOptions(Map<String, String> values, String forTheDriver) {
        this.values = values;
        this.forTheDriver = forTheDriver;
    }

    static DsnOptions parse(String query) {
        Map<String, String> values = new HashMap<>();
        Set<String> seen = new HashSet<>();
        List<String> left = new ArrayList<>();
        for (String option : query.split("&", -1)) {
            int equals = option.indexOf('=');
            String name = equals < 0 ? option : option.substring(0, equals);
            if (!OURS.contains(name) && !DRIVERS.contains(name)) {
                if (query.contains("@")) {
                    // It may be the rest of a password that was not encoded.
                    throw Dsn.wrong();
                }
                throw new IllegalArgumentException("unknown option \"" + name + "\" of a Redis server: the options are "
                        + new TreeSet<>(OURS) + " and " + new TreeSet<>(DRIVERS));
            }
            if (equals < 0 || equals + 1 == option.length() || !seen.add(name)) {
                throw new IllegalArgumentException("the option " + name + " takes one value, as in " + name + "=…");
            }
            values.put(name, decoded(option.substring(equals + 1)));
            if (DRIVERS.contains(name)) {
                left.add(option);
            }
        }
        return new DsnOptions(values, left.isEmpty() ? "" : '?' + String.join("&", left));
    }

    /** Returns the query that is left for the driver, with its question mark; empty if nothing is left. */
    String forTheDriver() {
        return forTheDriver;
    }

    Optional<String> text(String name) {
        return Optional.ofNullable(values.get(name));
    }

    /** Builds a store with these options. */
    RedisStore store(RedisStore.Builder builder) {
        text(PREFIX).ifPresent(builder::keyPrefix);
        text(HASH_TAG).ifPresent(builder::hashTag);
        timeout().ifPresent(builder::commandTimeout);
        return isStrict() ? builder.strict().build() : builder.build();
    }

    Optional<Duration> timeout() {
        return text(TIMEOUT)
                .map(text -> DsnDuration.parse(text)
                        .orElseThrow(
                                () -> new IllegalArgumentException("timeout of the DSN must be " + DsnDuration.FORM)));
    }

    private boolean isStrict() {
        return switch (text(STRICT).orElse("false")) {
            case "true" -> true;
            case "false" -> false;
            default -> throw new IllegalArgumentException("strict must be true or false");
        };
    }

    /** Refuses credentials of sentinels for anything else. */
    void checkSentinels(String scheme) {
        boolean hasUser = values.containsKey(SENTINEL_USER);
        boolean hasPassword = values.containsKey(SENTINEL_PASSWORD);
        if ((hasUser || hasPassword) && !scheme.endsWith("-sentinel")) {
            throw new IllegalArgumentException(SENTINEL_USER + " and " + SENTINEL_PASSWORD
                    + " are only for redis-sentinel:// and rediss-sentinel://: remove them");
        }
        if (hasUser && !hasPassword) {
            throw new IllegalArgumentException(SENTINEL_USER + " needs " + SENTINEL_PASSWORD + " too");
        }
    }

    private static String decoded(String value) {
        try {
            return URLDecoder.decode(value, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw Dsn.wrong();
        }
    }
}
