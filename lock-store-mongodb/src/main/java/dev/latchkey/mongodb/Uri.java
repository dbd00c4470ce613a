package dev.latchkey.mongodb;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A MongoDB connection string with one option more: {@code collection}, which is ours and not the driver's. No message
 * repeats any of it.
 *
 * @param driver what the driver is given: all but that option
 * @param collection what it says; empty if it is not there
 */
record Uri(String driver, Optional<String> collection) {

    private static final String OPTION = "collection=";

    static Uri parse(String uri) {
        if (!uri.startsWith("mongodb://") && !uri.startsWith("mongodb+srv://")) {
            throw new IllegalArgumentException("a MongoDB URI begins with mongodb:// or mongodb+srv://");
        }
        int query = uri.indexOf('?', endOfCredentials(uri));
        if (query < 0) {
            return new Uri(uri, Optional.empty());
        }
        int fragment = uri.indexOf('#', query);
        int end = fragment < 0 ? uri.length() : fragment;
        List<String> kept = new ArrayList<>();
        Optional<String> collection = Optional.empty();
        for (String option : uri.substring(query + 1, end).split("&", -1)) {
            if (option.startsWith(OPTION)) {
                collection =
                        Optional.of(decoded(option.substring(OPTION.length()))).filter(name -> !name.isEmpty());
            } else {
                kept.add(option);
            }
        }
        String others = kept.isEmpty() ? "" : "?" + String.join("&", kept);
        return new Uri(uri.substring(0, query) + others + uri.substring(end), collection);
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
