package dev.latchkey.jdbc;

import java.sql.Driver;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The options of a JDBC URL, which most drivers drop in silence when they do not know them: {@code sslmod=require} would
 * connect without TLS. H2 refuses them itself, and Oracle's have no common form.
 *
 * @param kind what follows {@code jdbc:}
 * @param base the URL without them
 * @param names theirs
 */
record UrlOptions(String kind, String base, List<String> names) {

    /** A part between semicolons; SQL Server's values may have some between braces. */
    private static final String BETWEEN_SEMICOLONS = ";(?=(?:[^{}]|\\{[^}]*})*$)";

    private static final Pattern HSQLDB = Pattern.compile("(hsqldb|sql|textdb|runtime|jdbc|crypt|storage|tls)[._].*"
            + "|readonly|files_readonly|check_props|close_result|allow_empty_batch|fileaccess_class_name");

    /** Other names that the drivers know, and do not list. */
    private static Set<String> aliases(String kind) {
        String names = switch (kind) {
            case "mysql" ->
                "namedPipePath cacheDefaultTimezone serverTimezone nullCatalogMeansCurrent parseInfoCacheFactory"
                        + " enabledSSLCipherSuites enabledTLSProtocols haEnableJMX haLoadBalanceStrategy";
            case "mariadb" ->
                "clientCertificateKeyStorePassword clientCertificateKeyStoreType clientCertificateKeyStoreUrl"
                        + " databaseTerm nullCatalogMeansCurrent trustCertificateKeyStorePassword"
                        + " trustCertificateKeyStoreType trustCertificateKeyStoreUrl";
            case "sqlserver" -> "database userName server domainName port";
            default -> "";
        };
        return Set.of(names.split(" "));
    }

    static UrlOptions of(String url) {
        String kind = url.split(":", 3)[1];
        return switch (kind) {
            case "postgresql", "mysql", "mariadb", "sqlite" -> parsed(kind, url, "\\?", "&");
            case "sqlserver", "hsqldb" -> parsed(kind, url, ";", BETWEEN_SEMICOLONS);
            default -> new UrlOptions(kind, url, List.of());
        };
    }

    private static UrlOptions parsed(String kind, String url, String first, String others) {
        String[] parts = url.split(first, 2);
        String options = parts.length == 2 ? parts[1] : "";
        List<String> names = Arrays.stream(options.split(others))
                .map(option -> option.split("=", 2)[0].strip())
                .filter(name -> !name.isEmpty())
                .toList();
        return new UrlOptions(kind, parts[0], names);
    }

    /**
     * Looks for one that the driver does not know.
     *
     * @throws IllegalArgumentException if there is one; the message has its name and no value
     */
    void check(Driver driver) {
        if (names.isEmpty()) {
            return;
        }
        Set<String> known = known(driver);
        Set<String> spelled = known.stream().map(this::spelled).collect(Collectors.toSet());
        for (String name : names) {
            if (!spelled.contains(spelled(name)) && !hasPrefix(name)) {
                throw new IllegalArgumentException("the driver of jdbc:" + kind + ": knows no option " + name
                        + ", and would ignore it; it knows " + String.join(", ", new TreeSet<>(known)));
            }
        }
    }

    private Set<String> known(Driver driver) {
        try {
            DriverPropertyInfo[] properties = driver.getPropertyInfo(base, new Properties());
            return Stream.concat(Arrays.stream(properties).map(property -> property.name), aliases(kind).stream())
                    .collect(Collectors.toCollection(HashSet::new));
        } catch (SQLException e) {
            // Its message may repeat the URL.
            throw new IllegalArgumentException("the driver of jdbc:" + kind + ": cannot read the URL");
        }
    }

    /** PostgreSQL's and SQLite's drivers tell capitals from small letters. */
    private String spelled(String name) {
        return kind.equals("postgresql") || kind.equals("sqlite") ? name : name.toLowerCase(Locale.ROOT);
    }

    /** HSQLDB takes the properties of the database too, and lists few. */
    private boolean hasPrefix(String name) {
        return kind.equals("hsqldb") && HSQLDB.matcher(name).matches();
    }
}
