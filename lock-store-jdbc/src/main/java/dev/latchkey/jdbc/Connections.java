package dev.latchkey.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;

/**
 * Takes connections from the pool, never that of a transaction of the caller: where a connection comes without autocommit,
 * which may be because the pool hands out that of the running transaction, another is taken on a thread that has none.
 */
final class Connections {

    /** For so long a call waits for a connection before whoever has one to spare gives it back. */
    private static final long SHORTAGE_NANOS = Duration.ofMillis(500).toNanos();

    private final DataSource dataSource;
    private final Map<Thread, Long> waiting = new ConcurrentHashMap<>();
    private volatile boolean comeInTransactions;

    Connections(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    /** Asks on a thread of its own, and finds out by that how connections come where there is no transaction. */
    Connection first() throws NoConnectionException {
        try {
            Connection connection = await(this::apart);
            comeInTransactions = !connection.getAutoCommit();
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
        if (connection.getAutoCommit()) {
            return connection;
        }
        connection.close();
        return apart();
    }

    private Connection apart() throws SQLException {
        try {
            return Apart.call(dataSource::getConnection);
        } catch (SQLException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new SQLException("no connection", e);
        }
    }

    private interface Source {
        Connection connection() throws SQLException;
    }

    /** A pool that is interrupted while it waits for a connection is asked again, and the flag is kept. */
    private Connection await(Source source) throws NoConnectionException {
        waiting.put(Thread.currentThread(), System.nanoTime());
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return source.connection();
                } catch (SQLException | RuntimeException e) {
                    if (!(e.getCause() instanceof InterruptedException)) {
                        throw new NoConnectionException(e);
                    }
                    interrupted |= Thread.interrupted();
                }
            }
        } finally {
            waiting.remove(Thread.currentThread());
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
