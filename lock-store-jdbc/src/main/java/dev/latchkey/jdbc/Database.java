package dev.latchkey.jdbc;

import dev.latchkey.LockStorageException;
import dev.latchkey.LockStorageException.Failure;
import dev.latchkey.spi.PlatformThreads;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs work on connections of its own, each for one call. What the database only asks to try again, a deadlock or a
 * conflict of versions, is tried again for a while; every other error is a {@link LockStorageException}.
 */
final class Database {

    /** How long one call goes on trying what the database asks to try again. */
    private static final long RETRY_NANOS = Duration.ofSeconds(5).toNanos();

    /** How many broken connections of a pool one call takes, before it says so. */
    private static final int BROKEN = 3;

    /** How long a driver without a limit of its own may wait for an answer. */
    private static final Duration SILENCE = Duration.ofSeconds(10);

    /** How much longer a call may take for each further resource: for two statements of three requests each. */
    private static final Duration EACH = Duration.ofMillis(200);

    private static final Logger log = LoggerFactory.getLogger(JdbcStore.class);

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

    private final Connections connections;
    private final TableName table;
    private final Schema.Owner tableOwner;
    private final ReleaseCommit releases;
    private final AtomicReference<@Nullable Known> known = new AtomicReference<>();
    private final AtomicReference<@Nullable String> place = new AtomicReference<>();
    private final AtomicReference<@Nullable TableName> lastPlaced = new AtomicReference<>();
    private final OneTimeCheck looking = new OneTimeCheck();

    Database(DataSource dataSource, TableName table, Schema.Owner tableOwner, ReleaseCommit releases) {
        this.connections = new Connections(dataSource);
        this.table = table;
        this.tableOwner = tableOwner;
        this.releases = releases;
    }

    /** Works with the interrupt flag set, and keeps it. */
    <T> T call(String resource, Repeat repeat, Work<T> work) {
        return call(List.of(resource), repeat, work);
    }

    /** The same for several resources, each of which is written by itself; failures name the first. */
    <T> T call(Collection<String> resources, Repeat repeat, Work<T> work) {
        String resource = resources.iterator().next();
        boolean interrupted = Thread.interrupted();
        try {
            if (forgetsInterrupts()) {
                return apart(resource, SILENCE.plus(EACH.multipliedBy(resources.size() - 1)), repeat, work);
            }
            return PlatformThreads.isVirtual()
                    ? VirtualThreads.spare(() -> retrying(resource, repeat, work))
                    : retrying(resource, repeat, work);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Its driver has no limit for a server that does not answer, either. */
    private <T> T apart(String resource, Duration limit, Repeat repeat, Work<T> work) {
        try {
            return DedicatedThreadCalls.call(() -> retrying(resource, repeat, work), limit);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw Failures.failure(resource, "it did not answer for " + limit.toSeconds() + " s");
        }
    }

    private <T> T retrying(String resource, Repeat repeat, Work<T> work) {
        long end = System.nanoTime() + RETRY_NANOS;
        boolean tableWasMissing = false;
        for (int attempt = 0; ; attempt++) {
            boolean isLast = System.nanoTime() - end > 0;
            try {
                T result = tryOnce(work);
                if (result != null) {
                    return result;
                }
                if (isLast) {
                    throw Failures.failure(
                            resource, "others changed it again and again, for " + RETRY_NANOS / 1_000_000 + " ms");
                }
            } catch (NoConnectionException e) {
                // What an earlier attempt has sent may have been done.
                throw e.failure(resource, attempt == 0 ? Failure.NOT_SENT : Failure.IN_DOUBT);
            } catch (SQLException e) {
                boolean isMissing = isMissingTable(e);
                if (isMissing) {
                    known.set(null);
                }
                if (isMissing && tableOwner == Schema.Owner.STORE && !tableWasMissing) {
                    tableWasMissing = true;
                } else if (isLast || !(isTransient(e) || mayRepeat(e, repeat, attempt))) {
                    throw isMissing ? Failures.missing(resource, table, e) : Failures.failure(resource, e);
                }
            } catch (LockStorageException e) {
                throw e;
            } catch (RuntimeException e) {
                // Whatever the driver or the pool throws says nothing about what was done.
                throw Failures.unchecked(resource, e);
            }
            pause(attempt);
        }
    }

    private <T> @Nullable T tryOnce(Work<T> work) throws SQLException, NoConnectionException {
        Known now = known();
        try (OwnConnection own = new OwnConnection(connections.get(), now.defaults())) {
            try {
                return work.on(own.get(), now.statements());
            } catch (RuntimeException | Error e) {
                Connections.abort(own.get());
                throw e;
            }
        }
    }

    /** Finds out what database it is, and has the table there. */
    private Known known() throws SQLException, NoConnectionException {
        Known before = known.get();
        return before != null ? before : looking.run(this::lookAndCreate);
    }

    private Known lookAndCreate() throws SQLException, NoConnectionException {
        Known before = known.get();
        if (before != null) {
            return before;
        }
        Known found = withTable(look());
        known.set(found);
        return found;
    }

    /** Has the table there, and names the place where it is: an application may make a connection look elsewhere later. */
    private Known withTable(Known found) throws SQLException, NoConnectionException {
        if (table.schema().isPresent() && tableOwner == Schema.Owner.APPLICATION) {
            return found;
        }
        try (OwnConnection own = new OwnConnection(connections.get(), found.defaults())) {
            return Connections.use(own.get(), connection -> {
                Known asBefore = asBefore(connection, found);
                if (tableOwner == Schema.Owner.STORE) {
                    create(
                            connection,
                            Schema.ofLocks(
                                    asBefore.dialect(), asBefore.statements().table()));
                }
                return placed(connection, asBefore);
            });
        }
    }

    /** What was missing may be another table, as that of the indexes: the one with the locks is kept to while it is there. */
    private Known asBefore(Connection connection, Known found) throws SQLException {
        TableName before = lastPlaced.get();
        return before != null && found.dialect().hasTable(connection, before) ? with(before, found) : found;
    }

    private Known placed(Connection connection, Known found) throws SQLException {
        TableName name = found.statements().table();
        if (!name.isLookedUp()) {
            return found;
        }
        TableName there = name.in(found.dialect().place(connection, name));
        if (!there.isLookedUp()) {
            lastPlaced.set(there);
        }
        return with(there, found);
    }

    private Known with(TableName name, Known found) {
        return new Known(found.dialect(), new Statements(found.dialect(), name, releases), found.defaults());
    }

    private Known look() throws SQLException, NoConnectionException {
        try (Connection connection = connections.first()) {
            return Connections.use(connection, this::knownOf);
        }
    }

    private Known knownOf(Connection connection) throws SQLException {
        Dialect dialect = Dialects.of(connection);
        PoolDefaults defaults = PoolDefaults.of(connection, dialect);
        dialect.severalClocks(connection)
                .ifPresent(which -> log.warn(
                        "lock.several_clocks_found database={} problem={}: two can hold at once if the clocks of its"
                                + " servers differ. Let all who lock write to one server",
                        dialect.name(),
                        which));
        if (!connection.getAutoCommit()) {
            // Some drivers have begun a transaction by now, in which nothing was done.
            connection.rollback();
        }
        return new Known(dialect, new Statements(dialect, table, releases), defaults);
    }

    /** For a caller in a transaction, which none of the connections for this is a part of. */
    Statements statements(String resource) {
        return Uninterruptibles.call(() -> VirtualThreads.spare(() -> {
            try {
                return known().statements();
            } catch (NoConnectionException e) {
                throw e.failure(resource, Failure.NOT_SENT);
            } catch (SQLException e) {
                throw Failures.failure(resource, e);
            }
        }));
    }

    void createTable() {
        boolean unused = Uninterruptibles.call(() -> VirtualThreads.spare(() -> {
            try {
                createTable(known());
                return true;
            } catch (NoConnectionException e) {
                throw e.failure("", Failure.NOT_SENT);
            } catch (SQLException e) {
                throw Failures.failure("", e);
            }
        }));
    }

    private void createTable(Known database) throws SQLException, NoConnectionException {
        try (OwnConnection own = new OwnConnection(connections.get(), database.defaults())) {
            known.set(Connections.use(own.get(), connection -> {
                create(
                        connection,
                        Schema.ofLocks(database.dialect(), database.statements().table()));
                return placed(connection, database);
            }));
        }
    }

    /**
     * Creates a table if it is not there, never in a second place: a connection that the application made to look elsewhere
     * would get a table of its own, in which every lock is free.
     */
    void create(Connection connection, Schema schema) throws SQLException {
        if (schema.table().isLookedUp()) {
            String here = "catalog " + connection.getCatalog() + ", schema " + connection.getSchema();
            @Nullable String first = place.compareAndExchange(null, here);
            if (first != null && !first.equals(here) && !schema.isThere(connection)) {
                throw new SQLException(
                        "a connection of the pool looks for tables in " + here + ", where "
                                + schema.table().table()
                                + " is not: the store began in " + first
                                + ". Name the schema with JdbcStore.builder(...).schema(...)",
                        "3F000");
            }
        }
        schema.create(connection);
    }

    Connections connections() {
        return connections;
    }

    /** Whether a hold can be passed on here; false as long as nothing was asked of the database yet. */
    boolean canHandOff() {
        Known now = known.get();
        return now != null && now.statements().canHandOff();
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
        return repeat == Repeat.HARMLESS && attempt < BROKEN && Failures.isBroken(e) && !Failures.isSilent(e);
    }

    private boolean isMissingTable(SQLException e) {
        Known now = known.get();
        return now != null && now.dialect().isMissingTable(e);
    }

    private static void pause(int attempt) {
        long bound = Math.min(LONGEST_PAUSE_NANOS, 100_000L << Math.min(attempt, 10));
        LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(bound / 2, bound + 1));
    }
}
