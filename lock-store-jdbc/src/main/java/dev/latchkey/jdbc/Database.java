package dev.latchkey.jdbc;

import dev.latchkey.LockStorageException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Runs work on connections of its own, each for one call. What the database only asks to try again, a deadlock or a
 * conflict of versions, is tried again for a while; every other error is a {@link LockStorageException}.
 */
final class Database {

    /** How long one call goes on trying what the database asks to try again. */
    private static final long RETRY_NANOS = Duration.ofSeconds(5).toNanos();

    /** How many broken connections of a pool one call takes, before it says so. */
    private static final int BROKEN = 3;

    private static final long LONGEST_PAUSE_NANOS = Duration.ofMillis(20).toNanos();

    /** What is done with a connection. Empty hands (null) mean: somebody else was faster, read again. */
    @FunctionalInterface
    interface Work<T> {
        @Nullable T on(Connection connection, Statements statements) throws SQLException;
    }

    /** Whether work may be done twice. */
    enum Repeat {
        /** It comes to the same: a connection that turns out to be broken is replaced. */
        HARMLESS,
        /** Not known to have been done, it is not done again. */
        NEVER
    }

    /** What is known once the first connection was had, and the table is there. */
    record Known(Dialect dialect, Statements statements, PoolDefaults defaults) {}

    private final DataSource dataSource;
    private final TableName table;
    private final Schema.Owner tableOwner;
    private final AtomicReference<@Nullable Known> known = new AtomicReference<>();

    Database(DataSource dataSource, TableName table, Schema.Owner tableOwner) {
        this.dataSource = dataSource;
        this.table = table;
        this.tableOwner = tableOwner;
    }

    /** Works with the interrupt flag set, and keeps it: pools and drivers would give up, or forget it. */
    <T> T call(String resource, Repeat repeat, Work<T> work) {
        boolean interrupted = Thread.interrupted();
        try {
            return forgetsInterrupts()
                    ? Apart.call(() -> retrying(resource, repeat, work))
                    : retrying(resource, repeat, work);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private <T> T retrying(String resource, Repeat repeat, Work<T> work) {
        long end = System.nanoTime() + RETRY_NANOS;
        boolean tableWasMissing = false;
        for (int attempt = 0; ; attempt++) {
            boolean isLast = System.nanoTime() - end > 0;
            try {
                T result = tryOnce(resource, work);
                if (result != null) {
                    return result;
                }
                if (isLast) {
                    throw failure(
                            resource, "others changed it again and again, for " + RETRY_NANOS / 1_000_000 + " ms");
                }
            } catch (SQLException e) {
                boolean isMissing = isMissingTable(e) && !tableWasMissing;
                if (isMissing) {
                    tableWasMissing = true;
                    known.set(null);
                } else if (isLast || !(isTransient(e) || mayRepeat(e, repeat, attempt))) {
                    throw failure(resource, e);
                }
            }
            pause(attempt);
        }
    }

    private <T> @Nullable T tryOnce(String resource, Work<T> work) throws SQLException {
        Known now = known(resource);
        try (OwnConnection own = new OwnConnection(connect(resource), now.defaults(), now.dialect())) {
            return work.on(own.get(), now.statements());
        }
    }

    /** Finds out what database it is, and has the table there. Two threads at once do it twice, which hurts nobody. */
    Known known(String resource) throws SQLException {
        Known before = known.get();
        if (before != null) {
            return before;
        }
        Known found;
        try (Connection connection = connect(resource)) {
            Dialect dialect = Dialects.of(connection);
            PoolDefaults defaults = PoolDefaults.of(connection);
            if (!connection.getAutoCommit()) {
                // Some drivers have begun a transaction by now, in which nothing was done.
                connection.rollback();
            }
            found = new Known(dialect, new Statements(dialect, table), defaults);
        }
        if (tableOwner == Schema.Owner.STORE) {
            createTable(resource, found);
        }
        known.set(found);
        return found;
    }

    void createTable() {
        try {
            createTable("", known(""));
        } catch (SQLException e) {
            throw failure("", e);
        }
    }

    private void createTable(String resource, Known database) throws SQLException {
        try (OwnConnection own = new OwnConnection(connect(resource), database.defaults(), database.dialect())) {
            Schema.ofLocks(database.dialect(), table).create(own.get());
        }
    }

    /** A pool that is interrupted while it waits for a connection is asked again, and the flag is kept. */
    Connection connect(String resource) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return dataSource.getConnection();
                } catch (SQLException e) {
                    if (!(e.getCause() instanceof InterruptedException)) {
                        throw noConnection(resource, e);
                    }
                    interrupted |= Thread.interrupted();
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static LockStorageException noConnection(String resource, SQLException e) {
        return new LockStorageException(
                resource,
                "no connection to the database: " + e.getMessage() + ". If its pool is shared with transactions that"
                        + " take locks, it may be exhausted by them: give the store a pool of its own",
                e);
    }

    /** Whether a hold can be passed on here; false as long as nothing was asked of the database yet. */
    boolean canPass() {
        Known now = known.get();
        return now != null && now.statements().canPass();
    }

    /** Whether releases can be heard of here; false as long as nothing was asked of the database yet. */
    boolean announces() {
        Known now = known.get();
        return now != null && now.dialect() instanceof PostgreSqlDialect;
    }

    private boolean forgetsInterrupts() {
        Known now = known.get();
        return now != null && now.dialect().forgetsInterrupts();
    }

    private boolean isTransient(SQLException e) {
        Known now = known.get();
        return now != null && now.dialect().isTransient(e);
    }

    private static boolean mayRepeat(SQLException e, Repeat repeat, int attempt) {
        return repeat == Repeat.HARMLESS && attempt < BROKEN && isBroken(e);
    }

    /** The connection was gone, or is: the server was stopped, or its administrator ended the session. */
    private static boolean isBroken(SQLException e) {
        String state = String.valueOf(e.getSQLState());
        return state.startsWith("08") || state.startsWith("57P0");
    }

    private boolean isMissingTable(SQLException e) {
        Known now = known.get();
        return now != null && tableOwner == Schema.Owner.STORE && now.dialect().isMissingTable(e);
    }

    static LockStorageException failure(String resource, SQLException e) {
        return new LockStorageException(
                resource, "the database failed (SQLSTATE " + e.getSQLState() + "): " + e.getMessage(), e);
    }

    private static LockStorageException failure(String resource, String problem) {
        return new LockStorageException(resource, problem, null);
    }

    private static void pause(int attempt) {
        long bound = Math.min(LONGEST_PAUSE_NANOS, 100_000L << Math.min(attempt, 10));
        LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(bound / 2, bound + 1));
    }
}
