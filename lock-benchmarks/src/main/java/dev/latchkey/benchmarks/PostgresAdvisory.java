package dev.latchkey.benchmarks;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.testkit.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Objects;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * The PostgreSQL advisory store against the bare functions through the driver, which mint nothing, and against the same
 * with what makes a durable fencing token. To be run on one processor, server and all: {@code taskset -c 0}.
 */
@State(Scope.Thread)
public class PostgresAdvisory {

    private final LockFactory locks =
            LockFactory.connect(PostgresServer.sharedDsn().replaceFirst("^postgresql:", "postgresql+advisory:"));
    private final Lock lock = locks.createLock("benchmark");
    private final Connection connection = connect();
    private final PreparedStatement take = prepare("SELECT pg_advisory_lock(?)");
    private final PreparedStatement giveUp = prepare("SELECT pg_advisory_unlock(?)");
    private final PreparedStatement takeShared = prepare("SELECT pg_advisory_lock_shared(?)");
    private final PreparedStatement giveUpShared = prepare("SELECT pg_advisory_unlock_shared(?)");
    private final PreparedStatement takeWithToken = prepare("""
            SELECT CASE WHEN pg_advisory_lock(?)::text IS NOT NULL
                THEN CASE WHEN pg_logical_emit_message(true, 'benchmark', '') IS NOT NULL
                THEN pg_current_xact_id()::text::bigint END END""");

    /** For JMH. */
    public PostgresAdvisory() {}

    /**
     * One exclusive cycle.
     *
     * @return whether it went well
     */
    @Benchmark
    public boolean exclusive() {
        return lock.tryAcquire() && lock.release();
    }

    /**
     * One shared cycle.
     *
     * @return whether it went well
     */
    @Benchmark
    public boolean shared() {
        return lock.tryAcquireShared() && lock.release();
    }

    /**
     * One exclusive cycle of the bare functions.
     *
     * @return whether it went well
     */
    @Benchmark
    public boolean bareExclusive() throws SQLException {
        return run(take) != null && "t".equals(run(giveUp));
    }

    /**
     * One exclusive cycle of the bare functions, with a token.
     *
     * @return whether it went well
     */
    @Benchmark
    public boolean bareWithToken() throws SQLException {
        return run(takeWithToken) != null && "t".equals(run(giveUp));
    }

    /**
     * One shared cycle of the bare functions.
     *
     * @return whether it went well
     */
    @Benchmark
    public boolean bareShared() throws SQLException {
        return run(takeShared) != null && "t".equals(run(giveUpShared));
    }

    /** Leaves no connection behind. */
    @TearDown
    public void close() throws SQLException {
        locks.close();
        connection.close();
    }

    private static String run(PreparedStatement statement) throws SQLException {
        statement.setLong(1, 4711);
        try (ResultSet rows = statement.executeQuery()) {
            rows.next();
            return rows.getString(1);
        }
    }

    private PreparedStatement prepare(String sql) {
        try {
            return connection.prepareStatement(sql);
        } catch (SQLException e) {
            throw new IllegalStateException("could not prepare " + sql, e);
        }
    }

    private static Connection connect() {
        try {
            return Objects.requireNonNull(
                    DriverManager.getConnection(PostgresServer.jdbcUrl(PostgresServer.sharedDsn())));
        } catch (SQLException e) {
            throw new IllegalStateException("no server to measure", e);
        }
    }
}
