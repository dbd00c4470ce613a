package dev.latchkey.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** PostgreSQL from 9.6 on. Of a release that somebody waits for, all who listen are told in the same statement. */
final class PostgreSqlDialect implements Dialect {

    @Override
    public String name() {
        return "postgresql";
    }

    /**
     * Who does not wait is refused by a plain read: no row is locked and nothing is written. Who waits leaves a mark, so
     * that the release is announced; it goes with the next hold. The clock is read before the row is locked: waiting for
     * the lock can only make the lease shorter.
     */
    @Override
    public String acquire() {
        return """
                WITH asked AS (
                    SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS bigint) AS at),
                seen AS (
                    SELECT * FROM latchkey_lock WHERE resource = :resource),
                answer AS (
                    INSERT INTO latchkey_lock AS held
                        (resource, token, holder, acquired_at, expires_at, fencing_token,
                         readers, readers_until, promoter, promoter_until, waited, version)
                    SELECT :resource, :token, :holder, asked.at, asked.at + :ttl, asked.at, '-', 0, '-', 0, 0, 1
                    FROM asked
                    WHERE :patient = 1 OR NOT EXISTS (
                        SELECT FROM seen WHERE token <> :token AND GREATEST(expires_at, readers_until) > asked.at)
                    ON CONFLICT (resource) DO UPDATE
                    SET (token, holder, acquired_at, expires_at, fencing_token, readers, waited, version) = (
                        SELECT excluded.token, excluded.holder, excluded.acquired_at, excluded.expires_at,
                               CASE WHEN held.token = excluded.token AND held.expires_at > excluded.acquired_at
                                    THEN held.fencing_token
                                    ELSE GREATEST(held.fencing_token + 1, excluded.fencing_token) END,
                               '-', 0, held.version + 1
                        WHERE (held.token = excluded.token OR held.expires_at <= excluded.acquired_at)
                          AND held.readers_until <= excluded.acquired_at
                        UNION ALL
                        SELECT held.token, held.holder, held.acquired_at, held.expires_at, held.fencing_token,
                               held.readers, 1, held.version + 1
                        WHERE (held.token <> excluded.token AND held.expires_at > excluded.acquired_at)
                           OR held.readers_until > excluded.acquired_at)
                    RETURNING token, fencing_token, expires_at, readers_until, readers)
                SELECT token, fencing_token, GREATEST(expires_at, readers_until) - at AS remaining, readers
                FROM answer, asked
                UNION ALL
                SELECT token, fencing_token, GREATEST(expires_at, readers_until) - at AS remaining, readers
                FROM seen, asked
                WHERE NOT EXISTS (SELECT FROM answer)""";
    }

    @Override
    public Answer answer() {
        return Answer.ROW;
    }

    @Override
    public String read() {
        return """
                SELECT held.*, asked.now_micros
                FROM (SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS bigint) AS now_micros) AS asked
                LEFT JOIN latchkey_lock AS held ON held.resource = :resource""";
    }

    @Override
    public String renew() {
        return """
                UPDATE latchkey_lock
                SET expires_at = CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS bigint) + :ttl,
                    version = version + 1
                WHERE resource = :resource AND token = :token AND fencing_token = :fencing_token
                  AND expires_at > CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS bigint)""";
    }

    @Override
    public String insert() {
        return """
                INSERT INTO latchkey_lock
                    (resource, token, holder, acquired_at, expires_at, fencing_token,
                     readers, readers_until, promoter, promoter_until, waited, version)
                VALUES (:resource, :token, :holder, :acquired_at, :expires_at, :fencing_token,
                        :readers, :readers_until, :promoter, :promoter_until, :waited, 1)
                ON CONFLICT (resource) DO NOTHING""";
    }

    /** A duplicate must not fail: the caller's transaction would go with it. */
    @Override
    public String insertFence() {
        return """
                INSERT INTO latchkey_fence (resource, fencing_token) VALUES (:resource, :fencing_token)
                ON CONFLICT (resource) DO NOTHING""";
    }

    @Override
    public String guard() {
        return """
                UPDATE latchkey_lock
                SET version = version + 1
                WHERE resource = :resource AND token = :token AND fencing_token = :fencing_token
                  AND expires_at > CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS bigint)""";
    }

    @Override
    public String change() {
        return """
                UPDATE latchkey_lock
                SET token = :token, holder = :holder, acquired_at = :acquired_at, expires_at = :expires_at,
                    fencing_token = :fencing_token, readers = :readers, readers_until = :readers_until,
                    promoter = :promoter, promoter_until = :promoter_until, waited = :waited, version = version + 1
                WHERE resource = :resource AND version = :version
                RETURNING CASE WHEN waited = 1 AND :lets_others_in = 1
                               THEN CAST(pg_notify(:channel, resource) AS text) END""";
    }

    @Override
    public String release() {
        return """
                UPDATE latchkey_lock
                SET token = '-', holder = '-', expires_at = 0, version = version + 1
                WHERE resource = :resource AND token = :token
                RETURNING CASE WHEN waited = 1 THEN CAST(pg_notify(:channel, resource) AS text) END""";
    }

    @Override
    public boolean isMissingTable(SQLException e) {
        return "42P01".equals(e.getSQLState());
    }

    /** Anything stricter makes rivals fail instead of wait, with an error line in the server's log each. */
    @Override
    public boolean suits(int isolation) {
        return isolation <= Connection.TRANSACTION_READ_COMMITTED;
    }

    @Override
    public boolean hasTable(Connection connection, TableName name) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("SELECT to_regclass(?) IS NOT NULL")) {
            statement.setString(1, name.qualified());
            try (ResultSet found = statement.executeQuery()) {
                return found.next() && found.getBoolean(1);
            }
        }
    }

    /** {@code IF NOT EXISTS} alone fails for all but one of those who create it at once. */
    @Override
    public void create(Connection connection, String definition) throws SQLException {
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT pg_advisory_xact_lock(hashtext('latchkey: create table'))");
            statement.execute(definition);
            connection.commit();
        } catch (SQLException e) {
            connection.rollback();
            throw e;
        } finally {
            connection.setAutoCommit(true);
        }
    }
}
