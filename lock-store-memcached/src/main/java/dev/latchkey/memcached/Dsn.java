package dev.latchkey.memcached;

import dev.latchkey.spi.DsnDuration;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import net.spy.memcached.ConnectionFactoryBuilder.Protocol;

/** {@code memcached://host[:port][?prefix=…&protocol=text|binary&timeout=3s]}. */
record Dsn(String host, int port, Optional<String> prefix, Protocol protocol, Duration timeout) {

    static final String SCHEME = "memcached";
    private static final int PORT = 11_211;
    private static final String FORM =
            "a DSN of Memcached is memcached://host[:port][?prefix=…&protocol=text|binary&timeout=3s]";

    static Dsn parse(String dsn) {
        URI uri;
        try {
            uri = new URI(dsn);
        } catch (URISyntaxException e) {
            // Its message and its input may hold a password.
            throw new IllegalArgumentException(FORM);
        }
        if (uri.getRawUserInfo() != null
                || Optional.ofNullable(uri.getRawAuthority()).orElse("").contains("@")) {
            throw new IllegalArgumentException(FORM + ". It takes no credentials: a server that wants them needs a"
                    + " MemcachedClient of your own, given to MemcachedStore.builder(client)");
        }
        if (Optional.ofNullable(uri.getRawAuthority()).orElse("").contains(",")) {
            throw new IllegalArgumentException(Clients.ONE_SERVER);
        }
        if (uri.getHost() == null
                || !Optional.ofNullable(uri.getRawPath()).orElse("").matches("/?")) {
            throw new IllegalArgumentException(FORM);
        }
        return of(uri);
    }

    private static Dsn of(URI uri) {
        Dsn dsn = new Dsn(
                uri.getHost().replaceAll("[\\[\\]]", ""),
                uri.getPort() < 0 ? PORT : uri.getPort(),
                Optional.empty(),
                Protocol.TEXT,
                MemcachedStore.Builder.COMMAND_TIMEOUT);
        if (uri.getRawQuery() == null) {
            return dsn;
        }
        for (String option : uri.getRawQuery().split("&", -1)) {
            String[] parts = option.split("=", 2);
            dsn = dsn.with(parts[0], parts.length == 2 ? URLDecoder.decode(parts[1], StandardCharsets.UTF_8) : "");
        }
        return dsn;
    }

    private Dsn with(String option, String value) {
        return switch (option) {
            case "prefix" -> new Dsn(host, port, Optional.of(ItemName.checkPrefix(value)), protocol, timeout);
            case "protocol" -> new Dsn(host, port, prefix, protocol(value), timeout);
            case "timeout" -> new Dsn(host, port, prefix, protocol, timeout(value));
            // Its name is not repeated: it may be the rest of a password.
            default -> throw new IllegalArgumentException("unknown option: " + FORM);
        };
    }

    private static Duration timeout(String value) {
        return DsnDuration.parse(value)
                .orElseThrow(() ->
                        new IllegalArgumentException("timeout of the DSN is not " + DsnDuration.FORM + ": " + FORM));
    }

    private static Protocol protocol(String name) {
        return switch (name) {
            case "text", "binary" -> Protocol.valueOf(name.toUpperCase(Locale.ROOT));
            default -> throw new IllegalArgumentException("unknown protocol \"" + name + "\": " + FORM);
        };
    }
}
