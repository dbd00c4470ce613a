package dev.latchkey.mongodb;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A MongoDB connection string with two additional options, which belong to this store and not to the driver. No message contains
 * any of its values.
 *
 * @param driver what the driver is given: all but those options
 * @param collection what it says; empty if it is not there
 * @param allowedClockSkew what it says; empty if it is not there
 */
record Uri(String driver, Optional<String> collection, Optional<Duration> allowedClockSkew) {

    /** Separators of options; the driver accepts both. */
    private static final String SEPARATORS = "[&;]";

    static Uri parse(String uri) {
        if (!uri.startsWith("mongodb://") && !uri.startsWith("mongodb+srv://")) {
            throw new IllegalArgumentException("a MongoDB URI begins with mongodb:// or mongodb+srv://");
        }
        int query = uri.indexOf('?', endOfCredentials(uri));
        if (query < 0) {
            return new Uri(uri, Optional.empty(), Optional.empty());
        }
        int fragment = uri.indexOf('#', query);
        int end = fragment < 0 ? uri.length() : fragment;
        List<String> kept = new ArrayList<>();
        Optional<String> collection = Optional.empty();
        Optional<Duration> skew = Optional.empty();
        for (String option : uri.substring(query + 1, end).split(SEPARATORS, -1)) {
            int equals = option.indexOf('=');
            String name = equals < 0 ? option : option.substring(0, equals);
            String value = equals < 0 ? "" : decoded(option.substring(equals + 1));
            if (name.equals(UriOptions.COLLECTION)) {
                collection = Optional.of(value).filter(named -> !named.isEmpty());
            } else if (name.equals(UriOptions.ALLOWED_CLOCK_SKEW)) {
                skew = Optional.of(millis(name, value));
            } else {
                if (!option.isEmpty()) {
                    UriOptions.check(name);
                }
                kept.add(option);
            }
        }
        String others = kept.isEmpty() ? "" : "?" + String.join("&", kept);
        return new Uri(uri.substring(0, query) + others + uri.substring(end), collection, skew);
    }

    private static Duration millis(String name, String value) {
        try {
            return Duration.ofMillis(Long.parseLong(value));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "the option " + name + " of the MongoDB URI must be a whole number of milliseconds", e);
        }
    }

    /** A password may have a question mark in it. */
    private static int endOfCredentials(String uri) {
        int hosts = uri.indexOf("//") + 2;
        int slash = uri.indexOf('/', hosts);
        int at = uri.lastIndexOf('@', slash < 0 ? uri.length() : slash);
        return Math.max(hosts, at);
    }

    private static String decoded(String value) {
        return URLDecoder.decode(value.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    /** Without credentials. */
    @Override
    public String toString() {
        return "Uri[" + collection.orElse("") + "]";
    }
}
