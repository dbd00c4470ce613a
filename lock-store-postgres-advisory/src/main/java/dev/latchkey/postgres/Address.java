package dev.latchkey.postgres;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * What a DSN says, for the driver.
 *
 * @param url without who connects
 * @param user null if the URL, or the driver's default, says it
 */
record Address(String url, @Nullable String user, @Nullable String password) {

    static final String SCHEME = "postgresql+advisory";

    private static final int SECONDS_TO_CONNECT = 10;

    private static final Pattern DSN = Pattern.compile(Pattern.quote(SCHEME)
            + "://(?:(?<user>[^:@/?]*)(?::(?<password>[^@/?]*))?@)?(?<rest>[^/?@]+/[^/?@]+(?:\\?.*)?)");

    static Address parse(String dsn) {
        Matcher matcher = DSN.matcher(dsn);
        if (!matcher.matches()) {
            // Not repeated: it may hold a password.
            throw new IllegalArgumentException("a DSN of PostgreSQL advisory locks is " + SCHEME
                    + "://user:password@host:port/database, with options of the driver after a question mark; in user and"
                    + " password each of : @ / ? % is written as a percent sign and two digits");
        }
        return new Address(
                "jdbc:postgresql://" + matcher.group("rest"),
                decoded(matcher.group("user")),
                decoded(matcher.group("password")));
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
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setApplicationName("latchkey");
        source.setTcpKeepAlive(true);
        source.setConnectTimeout(SECONDS_TO_CONNECT);
        source.setLoginTimeout(SECONDS_TO_CONNECT);
        source.setUrl(checked());
        if (user != null) {
            source.setUser(user);
        }
        if (password != null) {
            source.setPassword(password);
        }
        return source;
    }

    private String checked() {
        if (org.postgresql.Driver.parseURL(url, null) == null) {
            throw new IllegalArgumentException(
                    "the host, port, database or an option in the DSN of PostgreSQL advisory locks is not one");
        }
        return url;
    }

    /** Without the password. */
    @Override
    public String toString() {
        return "Address[" + SCHEME + "]";
    }
}
