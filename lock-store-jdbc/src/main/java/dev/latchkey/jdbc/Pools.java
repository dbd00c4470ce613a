package dev.latchkey.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.logging.Level;
import java.util.logging.Logger;
import javax.sql.DataSource;

/** Opens a pool of the store's own, and looks at those of others. */
final class Pools {

    private static final AtomicInteger NUMBERS = new AtomicInteger();
    private static final Duration CONNECT = Duration.ofSeconds(5);
    private static final Duration SILENCE = Duration.ofSeconds(10);

    /** Of Spring, and of Micronaut. */
    private static final Set<String> TRANSACTION_AWARE =
            Set.of("TransactionAwareDataSourceProxy", "TransactionAwareDataSource", "ContextualConnectionDataSource");

    private static final List<String> TARGETS =
            List.of("getTargetDataSource", "getDataSource", "getDelegate", "getTarget");
    private static final int DEEPEST = 10;

    private Pools() {}

    static JdbcStore open(Dsn dsn, UnaryOperator<JdbcStore.Builder> options) {
        check(dsn);
        HikariDataSource pool = new HikariDataSource();
        pool.setPoolName("latchkey-jdbc-" + NUMBERS.incrementAndGet());
        pool.setJdbcUrl(dsn.url());
        dsn.user().ifPresent(pool::setUsername);
        dsn.password().ifPresent(pool::setPassword);
        pool.setMinimumIdle(1);
        pool.setConnectionTimeout(CONNECT.toMillis());
        // The pool connects when it is first asked, and fails then as the driver does.
        pool.setInitializationFailTimeout(1);
        boundSilence(pool, dsn);
        JdbcStore.Builder builder = JdbcStore.builder(pool).closing(pool::close);
        return options.apply(dsn.releases() == ReleaseCommit.DURABLE ? builder.durableRelease() : builder)
                .build();
    }

    /** A server that does not answer must hold nobody for ever, nor its connection stay. Options in the URL win. */
    private static void boundSilence(HikariConfig config, Dsn dsn) {
        // As texts: drivers do not see a number among properties.
        String millis = Long.toString(SILENCE.toMillis());
        switch (UrlOptions.of(dsn.url()).kind()) {
            case "postgresql" -> {
                config.setExceptionOverride(new ReadOnlyServerEviction());
                config.addDataSourceProperty("socketTimeout", Long.toString(SILENCE.toSeconds()));
                config.addDataSourceProperty("tcpKeepAlive", "true");
            }
            case "mysql", "mariadb" -> {
                config.setExceptionOverride(new ReadOnlyServerEviction());
                config.addDataSourceProperty("socketTimeout", millis);
            }
            case "sqlserver" -> config.addDataSourceProperty("socketTimeout", millis);
            case "oracle" -> config.addDataSourceProperty("oracle.jdbc.ReadTimeout", millis);
            case "h2" -> {
                config.setExceptionOverride(new BrokenH2Eviction());
                if (dsn.url().matches("(?i)jdbc:h2:(tcp|ssl):.*")) {
                    config.addDataSourceProperty("NETWORK_TIMEOUT", millis);
                }
            }
            default -> {
                // HSQLDB's driver has none: Database bounds the call. The others have no server.
            }
        }
    }

    private static void check(Dsn dsn) {
        UrlOptions.of(dsn.url()).check(driver(dsn));
    }

    /** PostgreSQL's driver prints a URL that it cannot read, which may hold a password. */
    private static synchronized Driver driver(Dsn dsn) {
        Logger printing = Logger.getLogger("org.postgresql.Driver");
        Level before = printing.getLevel();
        printing.setLevel(Level.OFF);
        try {
            return DriverManager.getDriver(dsn.url());
        } catch (SQLException e) {
            // The cause repeats the URL, which may hold a password.
            throw new IllegalArgumentException("no JDBC driver on the class path takes a URL that begins with jdbc:"
                    + dsn.url().split(":", 3)[1] + ": add the driver's artifact, or correct the URL");
        } finally {
            printing.setLevel(before);
        }
    }

    /** One that hands out the connection of the running transaction is of no use, wrapped or not. */
    static DataSource checked(DataSource dataSource) {
        Optional<DataSource> target = Optional.of(dataSource);
        for (int depth = 0; target.isPresent() && depth < DEEPEST; depth++) {
            for (Class<?> type = target.get().getClass(); type != null; type = type.getSuperclass()) {
                if (TRANSACTION_AWARE.contains(type.getSimpleName())) {
                    throw new IllegalArgumentException("a " + type.getSimpleName()
                            + " hands out the connection of the running transaction: give the store its target");
                }
            }
            target = target(target.get());
        }
        return dataSource;
    }

    /** As Spring's and many others name it; empty where there is none to be had. */
    private static Optional<DataSource> target(DataSource wrapper) {
        for (String name : TARGETS) {
            try {
                if (wrapper.getClass().getMethod(name).invoke(wrapper) instanceof DataSource target) {
                    return Optional.of(target);
                }
            } catch (ReflectiveOperationException | RuntimeException e) {
                // Not one of those.
            }
        }
        return Optional.empty();
    }
}
