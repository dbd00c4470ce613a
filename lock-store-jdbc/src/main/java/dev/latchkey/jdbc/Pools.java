package dev.latchkey.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;

/** Opens a pool of the store's own, and looks at those of others. */
final class Pools {

    private static final AtomicInteger NUMBERS = new AtomicInteger();
    private static final Duration CONNECT = Duration.ofSeconds(5);
    private static final int SOCKET_SECONDS = 10;

    private Pools() {}

    static JdbcStore open(Dsn dsn, UnaryOperator<JdbcStore.Builder> options) {
        checkDriver(dsn);
        HikariConfig config = new HikariConfig();
        config.setPoolName("latchkey-jdbc-" + NUMBERS.incrementAndGet());
        config.setJdbcUrl(dsn.url());
        dsn.user().ifPresent(config::setUsername);
        dsn.password().ifPresent(config::setPassword);
        config.setMinimumIdle(1);
        config.setConnectionTimeout(CONNECT.toMillis());
        config.setInitializationFailTimeout(-1);
        boundSilence(config, dsn);
        HikariDataSource pool = new HikariDataSource(config);
        return options.apply(JdbcStore.builder(pool)).closing(pool::close).build();
    }

    /** A server that does not answer must not hold a caller for ever. Options in the URL win. */
    private static void boundSilence(HikariConfig config, Dsn dsn) {
        if (dsn.url().startsWith("jdbc:postgresql:")) {
            config.addDataSourceProperty("socketTimeout", SOCKET_SECONDS);
            config.addDataSourceProperty("tcpKeepAlive", "true");
        } else if (dsn.url().startsWith("jdbc:mysql:") || dsn.url().startsWith("jdbc:mariadb:")) {
            config.addDataSourceProperty("socketTimeout", SOCKET_SECONDS * 1_000);
        }
    }

    private static void checkDriver(Dsn dsn) {
        try {
            DriverManager.getDriver(dsn.url());
        } catch (SQLException e) {
            // The cause repeats the URL, which may hold a password.
            throw new IllegalArgumentException("no JDBC driver on the class path takes a URL that begins with jdbc:"
                    + dsn.url().split(":", 3)[1] + ": add the driver's artifact, or correct the URL");
        }
    }

    /** One that hands out the connection of the running transaction would have it committed. */
    static DataSource checked(DataSource dataSource) {
        String name = dataSource.getClass().getSimpleName();
        if (name.equals("TransactionAwareDataSourceProxy")) {
            throw new IllegalArgumentException("a " + name + " hands out the connection of the running transaction:"
                    + " give the store its target");
        }
        return dataSource;
    }
}
