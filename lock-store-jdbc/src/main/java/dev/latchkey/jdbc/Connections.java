package dev.latchkey.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes connections from the pool, never that of a transaction of the caller: where a connection comes without autocommit,
 * which may be because the pool hands out that of the running transaction, another is taken on a thread that has none.
 */
final class Connections {

    /** For so long a call waits for a connection before whoever has one to spare gives it back. */
    private static final long SHORTAGE_NANOS = Duration.ofMillis(500).toNanos();

    /** So often one call asks again whose pool says that it was interrupted, as one may that is being closed. */
    private static final int MOST_INTERRUPTS = 100;

    private static final Logger log = LoggerFactory.getLogger(JdbcStore.class);

    private final DataSource dataSource;
    private final Map<Thread, Long> waiting = new ConcurrentHashMap<>();
    private volatile boolean comeInTransactions;

    Connections(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    /** Asks on a thread of its own, and finds out by that how connections come where there is no transaction. */
    Connection first() throws NoConnectionException {
        Connection connection = await(this::apart);
        try {
            comeInTransactions = !isInAutoCommit(connection);
            return connection;
        } catch (SQLException e) {
            throw new NoConnectionException(e);
        }
    }

    Connection get() throws NoConnectionException {
        return await(this::outsideTransactions);
    }

    /** Whether calls have waited for a while. */
    boolean areShort() {
        long now = System.nanoTime();
        return waiting.values().stream().anyMatch(since -> now - since > SHORTAGE_NANOS);
    }

    private Connection outsideTransactions() throws SQLException {
        if (comeInTransactions) {
            return apart();
        }
        Connection connection = dataSource.getConnection();
        if (isInAutoCommit(connection)) {
            return connection;
        }
        connection.close();
        return apart();
    }

    private static boolean isInAutoCommit(Connection connection) throws SQLException {
        try {
            return connection.getAutoCommit();
        } catch (SQLException | RuntimeException | Error e) {
            connection.close();
            throw e;
        }
    }

    /** What is done with a connection. */
    @FunctionalInterface
    interface Use<T> {
        T on(Connection connection) throws SQLException;
    }

    /** Does something with one that goes back to a pool afterwards. */
    static <T> T use(Connection connection, Use<T> use) throws SQLException {
        try {
            return use.on(connection);
        } catch (RuntimeException | Error e) {
            abort(connection);
            throw e;
        }
    }

    /**
     * Has one closed whose driver has failed otherwise than by an SQLException. In the pool it would be of harm: what was on
     * its way then, the next one would read as the answer to its own statement.
     */
    static void abort(Connection connection) {
        try (connection) {
            connection.abort(Runnable::run);
        } catch (SQLException | RuntimeException e) {
            log.debug("lock.connection_aborted problem={}", e.toString());
        }
    }

    private Connection apart() throws SQLException {
        try {
            return DedicatedThreadCalls.call(dataSource::getConnection);
        } catch (SQLException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new SQLException("no connection", e);
        }
    }

    private interface Source {
        Connection connection() throws SQLException;
    }

    /** A pool that is interrupted while it waits for a connection is asked again, and the flag kept: not every pool does. */
    private Connection await(Source source) throws NoConnectionException {
        waiting.put(Thread.currentThread(), System.nanoTime());
        int interrupts = 0;
        try {
            while (true) {
                try {
                    return source.connection();
                } catch (SQLException | RuntimeException e) {
                    if (!(e.getCause() instanceof InterruptedException) || interrupts == MOST_INTERRUPTS) {
                        throw new NoConnectionException(e);
                    }
                    boolean wasKept = Thread.interrupted();
                    interrupts++;
                    log.debug("lock.pool_interrupted flagKept={}", wasKept);
                }
            }
        } finally {
            waiting.remove(Thread.currentThread());
            if (interrupts > 0) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
