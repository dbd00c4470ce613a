package dev.latchkey.etcd;

import dev.latchkey.spi.DsnDuration;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A parsed DSN. */
record Dsn(Endpoints endpoints, String root, Duration timeout) {

    static final String SCHEME = "etcd";
    static final String ENCRYPTED = "etcds";

    private static final String DEFAULT_PORT = ":2379";
    private static final String HOST = "(?:\\[[0-9a-fA-F:.%]+]|[^:,/?@\\s\\[\\]]+)(?::[0-9]{1,5})?";
    /** A list of hosts is possessive: otherwise each host takes a level of the stack. */
    private static final Pattern DSN =
            Pattern.compile("(?<scheme>etcds?)://(?:(?<user>[^:@/?]+):(?<password>[^@/?]*)@)?" + "(?<hosts>" + HOST
                    + "(?:," + HOST + ")*+)(?:/(?<root>[^?]*))?(?:\\?(?<options>.*))?");

    private static final String RIGHT =
            "write etcd://[user:password@]host[:port],host[:port][/root], or etcds:// for TLS, with"
                    + " ?timeout=5s for another time limit; in user and password, all but letters and digits as %xx";

    static Dsn parse(String text) {
        Matcher matcher = DSN.matcher(text);
        if (!matcher.matches()) {
            // The text is not repeated: it may contain a password.
            throw new IllegalArgumentException("not a DSN of etcd: " + RIGHT);
        }
        List<String> servers = Arrays.stream(matcher.group("hosts").split(",", -1))
                .map(Dsn::withPort)
                .toList();
        Optional<Credentials> credentials = Optional.ofNullable(matcher.group("user"))
                .map(user -> new Credentials(decoded(user), decoded(matcher.group("password"))));
        String root = Optional.ofNullable(matcher.group("root"))
                .filter(given -> !given.isEmpty())
                .orElse(EtcdStore.DEFAULT_ROOT);
        Endpoints endpoints = new Endpoints(servers, matcher.group("scheme").equals(ENCRYPTED), credentials);
        Dsn plain = new Dsn(endpoints, root, EtcdStore.DEFAULT_TIMEOUT);
        String options = Optional.ofNullable(matcher.group("options")).orElse("");
        return options.isEmpty()
                ? plain
                : Arrays.stream(options.split("&", -1)).reduce(plain, Dsn::with, (one, other) -> other);
    }

    private Dsn with(String option) {
        int equals = option.indexOf('=');
        String name = equals < 0 ? option : option.substring(0, equals);
        if (!name.equals("timeout")) {
            // Its name is not repeated: it may be the rest of a password that was not encoded.
            throw new IllegalArgumentException("a DSN of etcd with an unknown option: " + RIGHT);
        }
        String value = option.substring(equals + 1);
        return new Dsn(
                endpoints,
                root,
                DsnDuration.parse(value)
                        .orElseThrow(() -> new IllegalArgumentException(
                                "timeout of the DSN is not " + DsnDuration.FORM + ": " + RIGHT)));
    }

    private static String withPort(String host) {
        return host.matches(".*:[0-9]+") && !host.endsWith("]") ? host : host + DEFAULT_PORT;
    }

    private static String decoded(String part) {
        try {
            return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("a percent sign in a DSN is written %25");
        }
    }

    EtcdStore store() {
        return new EtcdStore.Builder(endpoints).root(root).timeout(timeout).build();
    }
}
