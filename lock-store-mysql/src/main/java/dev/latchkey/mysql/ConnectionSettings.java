package dev.latchkey.mysql;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Locale;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.mariadb.jdbc.Driver;
import org.mariadb.jdbc.MariaDbDataSource;

/**
 * What a DSN says, for the driver.
 *
 * @param url without who connects
 * @param user null if the URL, or the driver's default, says it
 */
record ConnectionSettings(
        String url, @Nullable String user, @Nullable String password) {

    static final Set<String> SCHEMES = Set.of("mysql+getlock", "mariadb+getlock");

    /** In force until a session has limits of its own. In the URL the last of two counts, so the user's. */
    private static final String LIMITS = "connectTimeout=10000&socketTimeout=10000";

    private static final String HOST = "(?:\\[[0-9a-fA-F:.%]+]|[^:,/?@\\s\\[\\]]+)(?::[0-9]{1,5})?";

    private static final Pattern DSN =
            Pattern.compile("(?:mysql|mariadb)\\+getlock://(?:(?<user>[^:@/?]*)(?::(?<password>[^@/?]*))?@)?(?<rest>"
                    + HOST + "(?:/[^/?@]*)?)(?:\\?(?<options>.*))?");

    static ConnectionSettings parse(String dsn) {
        Matcher matcher = DSN.matcher(dsn);
        if (!matcher.matches()) {
            // Not repeated: it may hold a password.
            throw new IllegalArgumentException(
                    "a DSN of GET_LOCK is mysql+getlock://user:password@host:port/database, or"
                            + " mariadb+getlock://…, with options of MariaDB's driver after a question mark; in user and password"
                            + " each of : @ / ? % is written as a percent sign and two digits");
        }
        String address = "jdbc:mariadb://" + matcher.group("rest")
                + (matcher.group("rest").contains("/") ? "" : "/");
        String options = matcher.group("options");
        boolean hasOptions = options != null && !options.isEmpty();
        if (hasOptions) {
            check(address, options);
        }
        return new ConnectionSettings(
                address + "?" + LIMITS + (hasOptions ? "&" + options : ""),
                decoded(matcher.group("user")),
                decoded(matcher.group("password")));
    }

    /** The driver would ignore what it does not know: {@code sslmod=require} would connect without. */
    private static void check(String address, String options) {
        Set<String> known = known(address);
        for (String option : options.split("&", -1)) {
            int equals = option.indexOf('=');
            String name = equals < 0 ? option : option.substring(0, equals);
            if (!known.contains(name.toLowerCase(Locale.ROOT))) {
                throw new IllegalArgumentException("a DSN of GET_LOCK has no option " + name + "; the driver knows "
                        + String.join(", ", new TreeSet<>(known)));
            }
            if (equals < 0) {
                throw new IllegalArgumentException("the option " + name + " in the DSN of GET_LOCK has no value");
            }
        }
    }

    private static Set<String> known(String address) {
        try {
            return Arrays.stream(new Driver().getPropertyInfo(address, new Properties()))
                    .map(property -> property.name.toLowerCase(Locale.ROOT))
                    .collect(Collectors.toSet());
        } catch (SQLException e) {
            throw notAnAddress();
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

    MariaDbDataSource source() {
        try {
            MariaDbDataSource source = new MariaDbDataSource(url);
            if (user != null) {
                source.setUser(user);
            }
            if (password != null) {
                source.setPassword(password);
            }
            return source;
        } catch (SQLException e) {
            // Its message may repeat the URL.
            throw notAnAddress();
        }
    }

    private static IllegalArgumentException notAnAddress() {
        return new IllegalArgumentException("the host, port, database or an option in the DSN of GET_LOCK is not one");
    }

    /** Without the password. */
    @Override
    public String toString() {
        return "ConnectionSettings[" + SCHEMES + "]";
    }
}
