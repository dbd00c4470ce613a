package dev.latchkey.jdbc;

import dev.latchkey.Key;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The statements of one dialect over one table. */
final class Statements {

    static final String READ_SOME = """
            SELECT resource, token, holder, acquired_at, expires_at, fencing_token, readers, promoter, promoter_until,
                   waited, version
            FROM latchkey_lock
            WHERE resource IN (%s)""";

    /** What has been over for long: the clock is past its fencing tokens, so that none can come again. */
    static final String READ_UNUSED = """
            SELECT resource, version
            FROM latchkey_lock
            WHERE expires_at < :before AND readers_until < :before AND acquired_at < :before
              AND fencing_token < :before""";

    /** One row by its key: a statement for all would wait for every row it meets on MySQL, also that of a guard. */
    static final String DELETE_UNUSED = "DELETE FROM latchkey_lock WHERE resource = :resource AND version = :version";

    /** How long a row of somebody's transaction is waited for by what has more to do. */
    private static final int LONGEST_WAIT_SECONDS = 1;

    private static final Logger log = LoggerFactory.getLogger(JdbcStore.class);

    private final Dialect dialect;
    private final TableName table;
    private final Sql acquire;
    private final Sql read;
    private final Sql renew;
    private final Sql insert;
    private final Sql change;
    private final Sql release;
    private final Optional<StickyStatements> sticky;
    private final Optional<Sql> lockRow;
    private final Optional<Sql> mark;
    private final Optional<Sql> handOff;
    private final Sql guard;
    private final ClockCheck clocks = new ClockCheck();
    private final Sql readUnused;
    private final Sql deleteUnused;

    Statements(Dialect dialect, TableName table, ReleaseCommit releases) {
        this.dialect = dialect;
        this.table = table;
        this.acquire = Sql.of(dialect.acquire(), dialect, table);
        this.read = Sql.of(dialect.read(), dialect, table);
        this.renew = Sql.of(dialect.renew(), dialect, table);
        this.insert = Sql.of(dialect.insert(), dialect, table);
        this.change = Sql.of(dialect.change(), dialect, table);
        String released = releases == ReleaseCommit.DURABLE ? dialect.durableRelease() : dialect.release();
        this.release = Sql.of(released, dialect, table);
        this.sticky = dialect.sticky().map(its -> new StickyStatements(its, dialect, table, released));
        this.lockRow = dialect.lockRow().map(statement -> Sql.of(statement, dialect, table));
        this.mark = dialect.mark().map(statement -> Sql.of(statement, dialect, table));
        this.handOff = dialect.handOff().map(statement -> Sql.of(statement, dialect, table));
        this.guard = Sql.of(dialect.guard(), dialect, table);
        this.readUnused = Sql.of(READ_UNUSED, dialect, table);
        this.deleteUnused = Sql.of(DELETE_UNUSED, dialect, table);
    }

    Dialect dialect() {
        return dialect;
    }

    TableName table() {
        return table;
    }

    Sql acquire() {
        return acquire;
    }

    /** The statements of sticky holds; empty if this database cannot recall them. */
    Optional<StickyStatements> sticky() {
        return sticky;
    }

    /** As {@link #sticky}, after the request was checked. */
    StickyStatements ofSticky() {
        return sticky.orElseThrow(() -> new IllegalStateException("no request is sticky here"));
    }

    Row read(Connection connection, String resource) throws SQLException {
        try (PreparedStatement prepared = read.prepare(connection, Map.of("resource", resource))) {
            return read(prepared, resource);
        }
    }

    private Row read(PreparedStatement prepared, String resource) throws SQLException {
        try (ResultSet row = prepared.executeQuery()) {
            if (!row.next()) {
                throw new SQLException("the database did not tell its time");
            }
            Row read = Row.read(row);
            clocks.look(resource, read);
            return read;
        }
    }

    /** Reads the row that a request to acquire is for, and recalls the sticky holds that keep it from being granted. */
    private Row readToAcquire(Connection connection, Request request) throws SQLException {
        String resource = ResourceName.of(request.key().resource());
        if (sticky.isEmpty()) {
            return read(connection, resource);
        }
        try (PreparedStatement prepared = sticky.get().read(connection, request)) {
            return read(prepared, resource);
        }
    }

    /**
     * Reads several rows, by name. All get the clock of the first: nobody's lease can look over before it is.
     */
    Map<String, Row> readAll(Connection connection, List<String> resources) throws SQLException {
        long now = read(connection, resources.get(0)).now();
        Map<String, Row> rows = new HashMap<>();
        resources.forEach(resource -> rows.put(resource, Row.absent(now)));
        for (InList part : InList.parts(resources)) {
            try (PreparedStatement prepared = part.prepare(READ_SOME, dialect, table, connection);
                    ResultSet some = prepared.executeQuery()) {
                while (some.next()) {
                    rows.put(some.getString("resource"), Row.read(some, now));
                }
            }
        }
        return rows;
    }

    /** Acquires as {@link #change} does: decides by {@link Rules#save}. */
    @Nullable Response acquire(Connection connection, Request request) throws SQLException {
        long since = System.nanoTime();
        Row row = readToAcquire(connection, request);
        Decision<Response> decision = new Rules(row, request, since, HolderText.of(request)).save();
        return write(connection, ResourceName.of(request.key().resource()), decision) ? decision.answer() : null;
    }

    /** Reads the row that a request is for, decides by the rule, and writes it; null if somebody else did meanwhile. */
    @Nullable Response change(Connection connection, Request request, Function<Rules, Decision<Response>> rule)
            throws SQLException {
        long since = System.nanoTime();
        return change(
                connection,
                ResourceName.of(request.key().resource()),
                row -> rule.apply(new Rules(row, request, since, HolderText.of(request))));
    }

    <T> @Nullable T change(Connection connection, String resource, Function<Row, Decision<T>> rule)
            throws SQLException {
        T answer = changeUnlocked(connection, resource, rule);
        return answer == null && lockRow.isPresent() ? changeLocked(connection, resource, rule, lockRow.get()) : answer;
    }

    private <T> @Nullable T changeUnlocked(Connection connection, String resource, Function<Row, Decision<T>> rule)
            throws SQLException {
        Decision<T> decision = rule.apply(read(connection, resource));
        return write(connection, resource, decision) ? decision.answer() : null;
    }

    /** Who was overtaken once may be again and again. */
    private <T> @Nullable T changeLocked(
            Connection connection, String resource, Function<Row, Decision<T>> rule, Sql lock) throws SQLException {
        AtomicReference<@Nullable T> answer = new AtomicReference<>();
        boolean isDone = Transaction.run(connection, () -> {
            int unused = lock.count(connection, Map.of("resource", resource));
            answer.set(changeUnlocked(connection, resource, rule));
            return answer.get() != null;
        });
        return isDone ? answer.get() : null;
    }

    /** Writes what was decided; false if the row is no longer the one that was read. */
    boolean write(Connection connection, String resource, Decision<?> decision) throws SQLException {
        if (decision.row().isEmpty()) {
            return true;
        }
        Row row = decision.row().get();
        Map<String, Object> values = new HashMap<>(row.values(resource));
        values.put("channel", table.channel());
        values.put("lets_others_in", decision.letsOthersIn() ? 1L : 0L);
        return (row.isAbsent() ? insert : change).count(connection, values) == 1;
    }

    /** How an ordinary exclusive hold is renewed. */
    Sql renew() {
        return renew;
    }

    boolean renew(Connection connection, Sql renewal, Map<String, ?> values) throws SQLException {
        return renewal.count(connection, values) == 1;
    }

    /** As {@link #renew}; fails if the row is locked for longer than a second. */
    boolean renewSoon(Connection connection, Sql renewal, Map<String, ?> values) throws SQLException {
        try (PreparedStatement prepared = renewal.prepare(connection, values)) {
            return executeAtMost(LONGEST_WAIT_SECONDS, prepared) == 1;
        }
    }

    boolean release(Connection connection, String resource, String token) throws SQLException {
        return release.count(connection, Map.of("resource", resource, "token", token, "channel", table.channel())) == 1;
    }

    /** Marks a live exclusive hold of another key as waited for; empty if there is none, or nothing is marked here. */
    Optional<Response> mark(Connection connection, Key key) throws SQLException {
        if (mark.isEmpty()) {
            return Optional.empty();
        }
        Map<String, Object> values =
                Map.of("resource", ResourceName.of(key.resource()), "token", key.token(), "channel", table.channel());
        try (PreparedStatement prepared = mark.get().prepare(connection, values);
                ResultSet marked = prepared.executeQuery()) {
            if (!marked.next()) {
                return Optional.empty();
            }
            long recalledAt = marked.getLong(2);
            boolean mayEnd = recalledAt > 0 && Recall.hasTime(recalledAt, marked.getLong(3));
            return Optional.of(new Response.Conflicted(Rules.micros(Math.max(0, marked.getLong(1))), mayEnd));
        }
    }

    boolean canHandOff() {
        return handOff.isPresent();
    }

    boolean handOff(Connection connection, Map<String, ?> values) throws SQLException {
        return handOff.isPresent() && handOff.get().count(connection, values) == 1;
    }

    boolean guard(Connection connection, Map<String, ?> values) throws SQLException {
        return guard.count(connection, values) == 1;
    }

    /** Deletes at most so many rows that nobody holds and whose last token is older than that, and returns how many. */
    int prune(Connection connection, long beforeMicros, int most) throws SQLException {
        Map<String, Long> unused = new HashMap<>();
        try (PreparedStatement prepared = readUnused.prepare(connection, Map.of("before", beforeMicros))) {
            prepared.setMaxRows(most);
            try (ResultSet rows = prepared.executeQuery()) {
                while (rows.next()) {
                    unused.put(rows.getString(1), rows.getLong(2));
                }
            }
        }
        for (Map.Entry<String, Long> row : unused.entrySet()) {
            Map<String, Object> values = Map.of("resource", row.getKey(), "version", row.getValue());
            try (PreparedStatement prepared = deleteUnused.prepare(connection, values)) {
                int unusedCount = executeAtMost(LONGEST_WAIT_SECONDS, prepared);
            }
        }
        return unused.size();
    }

    private static int executeAtMost(int seconds, PreparedStatement statement) throws SQLException {
        int before = statement.getQueryTimeout();
        statement.setQueryTimeout(seconds);
        try {
            return statement.executeUpdate();
        } catch (SQLTimeoutException e) {
            // H2's for a locked row would be tried again, for seconds.
            throw new SQLException(e.getMessage(), e.getSQLState(), e);
        } finally {
            restore(statement, before);
        }
    }

    /** H2 keeps the limit for the connection, which goes back to the pool. What the statement failed with is not hidden. */
    private static void restore(PreparedStatement statement, int seconds) {
        try {
            statement.setQueryTimeout(seconds);
        } catch (SQLException e) {
            log.debug("lock.limit_not_restored sqlState={}", e.getSQLState());
        }
    }
}
