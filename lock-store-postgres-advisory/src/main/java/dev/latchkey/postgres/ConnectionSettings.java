package dev.latchkey.postgres;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGProperty;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * What a DSN says, for the driver.
 *
 * @param url without who connects
 * @param user null if the URL, or the driver's default, says it
 */
record ConnectionSettings(
        String url, @Nullable String user, @Nullable String password) {

    static final String SCHEME = "postgresql+advisory";

    private static final int SECONDS_TO_CONNECT = 10;
    private static final int SECONDS_TO_CANCEL = 2;

    private static final String HOST = "(?:\\[[0-9a-fA-F:.%]+]|[^:,/?@\\s\\[\\]]+)(?::[0-9]{1,5})?";

    /** A list of hosts is possessive: otherwise each host takes a level of the stack. */
    private static final Pattern DSN =
            Pattern.compile(Pattern.quote(SCHEME) + "://(?:(?<user>[^:@/?]*)(?::(?<password>[^@/?]*))?@)?(?<rest>"
                    + HOST + "(?:," + HOST + ")*+/[^/?@]+)(?:\\?(?<options>.*))?");

    static ConnectionSettings parse(String dsn) {
        Matcher matcher = DSN.matcher(dsn);
        if (!matcher.matches()) {
            // Not repeated: it may hold a password.
            throw new IllegalArgumentException("a DSN of PostgreSQL advisory locks is " + SCHEME
                    + "://user:password@host:port/database, with options of the driver after a question mark; in user and"
                    + " password each of : @ / ? % is written as a percent sign and two digits");
        }
        String options = matcher.group("options");
        if (options != null && !options.isEmpty()) {
            for (String option : options.split("&", -1)) {
                check(option);
            }
        }
        return new ConnectionSettings(
                "jdbc:postgresql://" + matcher.group("rest") + (options == null ? "" : "?" + options),
                decoded(matcher.group("user")),
                decoded(matcher.group("password")));
    }

    /** The driver would ignore what it does not know, and print what it cannot read, with a password in it. */
    private static void check(String option) {
        int equals = option.indexOf('=');
        String name = equals < 0 ? option : option.substring(0, equals);
        if (PGProperty.forName(name) == null) {
            throw new IllegalArgumentException(
                    "a DSN of PostgreSQL advisory locks has no option " + name + "; the driver knows "
                            + Arrays.stream(PGProperty.values())
                                    .map(PGProperty::getName)
                                    .sorted()
                                    .collect(Collectors.joining(", ")));
        }
        if (equals < 0) {
            throw new IllegalArgumentException(
                    "the option " + name + " in the DSN of PostgreSQL advisory locks has no value");
        }
        try {
            URLDecoder.decode(option.substring(equals + 1), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("a percent sign in an option of a DSN is written %25");
        }
    }

    private static @Nullable String decoded(@Nullable String part) {
        if (part == null) {
            return null;
        }
        try {
            return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("a percent sign in the user or password of a DSN is written %25");
        }
    }

    PGSimpleDataSource source() {
        Properties named = parsed();
        PGSimpleDataSource source = new PGSimpleDataSource();
        // Before anything else: it changes nothing that is set already.
        source.setUrl(url);
        try {
            setDefaults(source, named);
        } catch (NumberFormatException e) {
            throw notOne();
        }
        if (user != null) {
            source.setUser(user);
        }
        if (password != null) {
            source.setPassword(password);
        }
        return source;
    }

    /** Sets what the DSN leaves open, and we want otherwise than the driver. */
    private static void setDefaults(PGSimpleDataSource source, Properties named) {
        if (!PGProperty.APPLICATION_NAME.isPresent(named)) {
            source.setApplicationName("latchkey");
        }
        if (!PGProperty.TCP_KEEP_ALIVE.isPresent(named)) {
            source.setTcpKeepAlive(true);
        }
        if (!PGProperty.CONNECT_TIMEOUT.isPresent(named)) {
            source.setConnectTimeout(SECONDS_TO_CONNECT);
        }
        if (!PGProperty.LOGIN_TIMEOUT.isPresent(named)) {
            source.setLoginTimeout(Math.max(SECONDS_TO_CONNECT, source.getConnectTimeout()));
        }
        if (!PGProperty.CANCEL_SIGNAL_TIMEOUT.isPresent(named)) {
            source.setCancelSignalTimeout(SECONDS_TO_CANCEL);
        }
    }

    private Properties parsed() {
        Properties named = org.postgresql.Driver.parseURL(url, null);
        if (named == null) {
            throw notOne();
        }
        return named;
    }

    private static IllegalArgumentException notOne() {
        return new IllegalArgumentException(
                "the host, port, database or an option in the DSN of PostgreSQL advisory locks is not one");
    }

    /** Without the password. */
    @Override
    public String toString() {
        return "Address[" + SCHEME + "]";
    }
}
