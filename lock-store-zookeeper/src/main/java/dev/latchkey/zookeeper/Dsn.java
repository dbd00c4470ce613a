package dev.latchkey.zookeeper;

import dev.latchkey.spi.DsnDuration;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.PathUtils;
import org.apache.zookeeper.common.ZKConfig;

/**
 * A parsed DSN.
 *
 * @param connectString the connect string of the client: hosts with ports, and the chroot
 * @param credentials user and password in the form of digest authentication
 */
record Dsn(String connectString, Optional<String> credentials, Duration sessionTimeout, String root) {

    static final String SCHEME = "zookeeper";

    private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(15);

    /**
     * The names of half a million locks. A client breaks its connection at a longer answer, and reads only a mebibyte if it is not
     * told otherwise.
     */
    private static final int LONGEST_ANSWER = 64 * 1024 * 1024;

    private static final String DEFAULT_PORT = ":2181";

    private static final String HOST = "(?:\\[[0-9a-fA-F:.%]+]|[^:,/?@\\s\\[\\]]+)(?::[0-9]{1,5})?";
    /** A list of hosts is possessive: otherwise each host takes a level of the stack. */
    private static final Pattern DSN =
            Pattern.compile(SCHEME + "://(?:(?<user>[^:@/?]+):(?<password>[^@/?]*)@)?(?<hosts>" + HOST + "(?:," + HOST
                    + ")*+)(?<chroot>/[^?]*)?(?:\\?(?<options>.*))?");

    private static final String RIGHT = "write " + SCHEME
            + "://[user:password@]host[:port],host[:port][/chroot], with ?sessionTimeout=15s for another session timeout"
            + " and ?root=/latchkey for another node above all locks; in user and password, all but letters and"
            + " digits as %xx";

    static Dsn parse(String text) {
        Matcher matcher = DSN.matcher(text);
        if (!matcher.matches()) {
            // The text is not repeated: it may contain a password.
            throw new IllegalArgumentException("not a DSN of ZooKeeper: " + RIGHT);
        }
        String hosts = Arrays.stream(matcher.group("hosts").split(",", -1))
                .map(Dsn::withPort)
                .collect(Collectors.joining(","));
        Optional<String> credentials = Optional.ofNullable(matcher.group("user"))
                .map(user -> decoded(user) + ':' + decoded(matcher.group("password")));
        String chroot = Optional.ofNullable(matcher.group("chroot"))
                .map(path -> path.endsWith("/") ? path.substring(0, path.length() - 1) : path)
                .orElse("");
        if (!chroot.isEmpty()) {
            checkPath("chroot", chroot);
        }
        Dsn plain = new Dsn(hosts + chroot, credentials, DEFAULT_TIMEOUT, ZooKeeperStore.DEFAULT_ROOT);
        String options = Optional.ofNullable(matcher.group("options")).orElse("");
        return options.isEmpty()
                ? plain
                : Arrays.stream(options.split("&", -1)).reduce(plain, Dsn::with, (one, other) -> other);
    }

    private Dsn with(String option) {
        int equals = option.indexOf('=');
        String name = equals < 0 ? option : option.substring(0, equals);
        String value = decoded(option.substring(equals + 1));
        return switch (name) {
            case "sessionTimeout" -> new Dsn(connectString, credentials, duration(value), root);
            case "root" -> {
                checkPath("root", value);
                yield new Dsn(connectString, credentials, sessionTimeout, value);
            }
            // Its name is not repeated: it may be the rest of a password that was not encoded.
            default -> throw new IllegalArgumentException("a DSN of ZooKeeper with an unknown option: " + RIGHT);
        };
    }

    private static Duration duration(String value) {
        return DsnDuration.parse(value)
                .orElseThrow(() -> new IllegalArgumentException(
                        "sessionTimeout of the DSN is not " + DsnDuration.FORM + ": " + RIGHT));
    }

    private static void checkPath(String what, String path) {
        try {
            PathUtils.validatePath(path);
        } catch (IllegalArgumentException e) {
            // What stands before the cause is the path, which may be the rest of a password that was not encoded.
            String cause = String.valueOf(e.getMessage()).replaceFirst("(?s).* caused by ", "");
            throw new IllegalArgumentException(
                    what + " of the DSN is not a valid ZooKeeper path: " + cause + "; " + RIGHT);
        }
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

    ZooKeeperStore store() {
        ZooKeeperStore.Builder builder = new ZooKeeperStore.Builder(new Clients.Own(this::connect)).root(root);
        return credentials.isPresent()
                ? builder.acl(ZooDefs.Ids.CREATOR_ALL_ACL).build()
                : builder.build();
    }

    private ZooKeeper connect() throws IOException {
        // Otherwise a blocking call would wait for two thirds of the session timeout.
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty(
                ZKClientConfig.ZOOKEEPER_REQUEST_TIMEOUT,
                Long.toString(TimeUnit.NANOSECONDS.toMillis(Failures.ANSWER_NANOS)));
        if (config.getProperty(ZKConfig.JUTE_MAXBUFFER) == null) {
            config.setProperty(ZKConfig.JUTE_MAXBUFFER, Integer.toString(LONGEST_ANSWER));
        }
        ZooKeeper client =
                new ZooKeeper(connectString, Math.toIntExact(sessionTimeout.toMillis()), event -> {}, config);
        credentials.ifPresent(both -> client.addAuthInfo("digest", both.getBytes(StandardCharsets.UTF_8)));
        return client;
    }

    /** Without the password. */
    @Override
    public String toString() {
        return "Dsn[" + connectString + "]";
    }
}
