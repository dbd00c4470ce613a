package dev.latchkey.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;

/** PostgreSQL from 9.6 on. Of a release that somebody waits for, all who listen are told in the same statement. */
final class PostgreSqlDialect implements Dialect {

    @Override
    public String name() {
        return "postgresql";
    }

    /**
     * The clock is read before the row is locked: waiting for that can only make the lease shorter. No more than this, and
     * no common table expression, which would cost as much again as the rest; a refusal therefore reads the row. Whoever has a
     * sticky hold reads it as well.
     */
    @Override
    public String acquire() {
        return """
                INSERT INTO latchkey_lock AS held
                    (resource, token, holder, acquired_at, expires_at, fencing_token,
                     readers, readers_until, promoter, promoter_until, waited, version)
                SELECT :resource, :token, :holder, asked.at, asked.at + :ttl, asked.at, '-', 0, '-', 0, 0, asked.at
                FROM (SELECT CAST(date_part('epoch', clock_timestamp()) * 1000000 AS bigint) AS at) AS asked
                ON CONFLICT (resource) DO UPDATE
                SET token = excluded.token, holder = excluded.holder, acquired_at = excluded.acquired_at,
                    expires_at = GREATEST(held.expires_at, excluded.expires_at),
                    fencing_token = CASE WHEN held.token = excluded.token AND held.expires_at > excluded.acquired_at
                                         THEN held.fencing_token
                                         ELSE GREATEST(held.fencing_token + 1, excluded.fencing_token) END,
                    readers = '-', waited = 0, version = held.version + 1
                WHERE ((held.token = excluded.token AND held.holder NOT LIKE '%|%|~%')
                       OR held.expires_at <= excluded.acquired_at)
                  AND held.readers_until <= excluded.acquired_at
                RETURNING fencing_token""";
    }

    @Override
    public Answer answer() {
        return Answer.TOKEN;
    }

    @Override
    public String read() {
        return """
                SELECT held.*, asked.now_micros
                FROM (SELECT CAST(date_part('epoch', clock_timestamp()) * 1000000 AS bigint) AS now_micros) AS asked
                LEFT JOIN latchkey_lock AS held ON held.resource = :resource""";
    }

    @Override
    public String renew() {
        return """
                UPDATE latchkey_lock
                SET expires_at = GREATEST(
                        expires_at, CAST(date_part('epoch', clock_timestamp()) * 1000000 AS bigint) + :ttl),
                    version = version + 1
                WHERE resource = :resource AND token = :token AND fencing_token = :fencing_token
                  AND expires_at > CAST(date_part('epoch', clock_timestamp()) * 1000000 AS bigint)""";
    }

    @Override
    public String insert() {
        return Dialect.super.insert() + "\nON CONFLICT (resource) DO NOTHING";
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
                WHERE resource = :resource AND token = :token
                  AND :fencing_token <= fencing_token
                  AND :fencing_token >= CASE WHEN holder LIKE '%|%|~%' THEN promoter_until ELSE fencing_token END
                  AND expires_at > CAST(date_part('epoch', clock_timestamp()) * 1000000 AS bigint)""";
    }

    @Override
    public String change() {
        return """
                UPDATE latchkey_lock
                SET token = :token, acquired_at = :acquired_at, expires_at = :expires_at,
                    holder = CASE WHEN :waited = 1 AND :lets_others_in = 1
                                  THEN :holder || CAST(pg_notify(:channel, resource) AS text)
                                  ELSE :holder END,
                    fencing_token = :fencing_token, readers = :readers, readers_until = :readers_until,
                    promoter = :promoter, promoter_until = :promoter_until, waited = :waited, version = version + 1
                WHERE resource = :resource AND version = :version""";
    }

    /**
     * The mark of those who wait goes with the next exclusive hold. The announcement is a part of what is set, for a
     * statement that returns rows costs a tenth of the cycle more.
     *
     * <p>The setting ends with the transaction, which is this statement. A server that crashes before it has written the
     * release shows the old holder until the end of its lease. Once a later hold is granted, the release is on the disk too: it
     * comes first in the same log.
     */
    @Override
    public String release() {
        return durableRelease() + " AND set_config('synchronous_commit', 'off', true) = 'off'";
    }

    @Override
    public String durableRelease() {
        return """
                UPDATE latchkey_lock
                SET token = '-', expires_at = 0, version = version + 1,
                    holder = CASE WHEN waited = 1 THEN '-' || CAST(pg_notify(:channel, resource) AS text) ELSE '-' END
                WHERE resource = :resource AND token = :token""";
    }

    @Override
    public Optional<String> mark() {
        return Optional.of("""
                UPDATE latchkey_lock
                SET waited = 1, version = version + 1,
                    holder = CASE
                        WHEN holder NOT LIKE '%|%|~%' THEN holder
                        WHEN holder LIKE '%|~0' THEN left(holder, -1)
                            || CAST(date_part('epoch', clock_timestamp()) * 1000000 AS bigint)
                            || CAST(pg_notify(:channel, '~' || resource) AS text)
                        ELSE holder || CAST(pg_notify(:channel, '~' || resource) AS text) END
                WHERE resource = :resource AND token <> '-' AND token <> :token
                  AND expires_at > CAST(date_part('epoch', clock_timestamp()) * 1000000 AS bigint)
                RETURNING expires_at - CAST(date_part('epoch', clock_timestamp()) * 1000000 AS bigint),
                    CASE WHEN holder LIKE '%|%|~%' THEN CAST(substring(holder FROM '[0-9]+$') AS bigint) ELSE 0 END,
                    CAST(date_part('epoch', clock_timestamp()) * 1000000 AS bigint)""");
    }

    @Override
    public Optional<StickyDialect> sticky() {
        return Optional.of(new PostgreSqlSticky());
    }

    /** The clock has passed the next token long ago: no two holds follow each other within a microsecond. */
    @Override
    public Optional<String> handOff() {
        return Optional.of("""
                UPDATE latchkey_lock
                SET token = :next, holder = :holder,
                    acquired_at = CAST(date_part('epoch', clock_timestamp()) * 1000000 AS bigint),
                    expires_at = CAST(date_part('epoch', clock_timestamp()) * 1000000 AS bigint) + :ttl,
                    fencing_token = fencing_token + 1, version = version + 1
                WHERE resource = :resource AND token = :token AND fencing_token = :fencing_token AND waited = 0""");
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

    /** Not where a pooler gives each transaction another session of the server. */
    @Override
    public boolean keepsSettings(Connection connection) throws SQLException {
        try {
            return PostgresSession.isOwn(connection);
        } catch (NoClassDefFoundError e) {
            // Another driver, or one that only the pool can load.
            return false;
        }
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

    @Override
    public Optional<String> place(Connection connection, TableName name) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("""
                SELECT quote_ident(nspname)
                FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
                WHERE pg_class.oid = to_regclass(?)""")) {
            statement.setString(1, name.qualified());
            try (ResultSet found = statement.executeQuery()) {
                return found.next() ? Optional.of(found.getString(1)) : Optional.empty();
            }
        }
    }

    /** {@code IF NOT EXISTS} alone fails for all but one of those who create it at once. */
    @Override
    public void create(Connection connection, String definition) throws SQLException {
        boolean unused = Transaction.run(connection, () -> {
            try (Statement statement = connection.createStatement()) {
                statement.execute("SELECT pg_advisory_xact_lock(hashtext('latchkey: create table'))");
                statement.execute(definition);
            }
            return true;
        });
    }
}
