package dev.latchkey.jdbc;

import java.sql.SQLException;
import java.util.Optional;

/** SQLite from 3.42 on: one writer at a time, a clock of milliseconds. */
final class SqliteDialect implements Dialect {

    private static final int BUSY = 5;
    private static final int LOCKED = 6;

    @Override
    public String name() {
        return "sqlite";
    }

    @Override
    public String acquire() {
        return """
                INSERT INTO latchkey_lock AS held
                    (resource, token, holder, acquired_at, expires_at, fencing_token,
                     readers, readers_until, promoter, promoter_until, waited, version)
                SELECT :resource, :token, :holder, asked.at, asked.at + :ttl, asked.at, '-', 0, '-', 0, 0, asked.at
                FROM (SELECT CAST(ROUND(unixepoch('now', 'subsec') * 1000) AS INTEGER) * 1000 AS at) AS asked
                WHERE TRUE
                ON CONFLICT (resource) DO UPDATE
                SET token = excluded.token, holder = excluded.holder, acquired_at = excluded.acquired_at,
                    expires_at = MAX(held.expires_at, excluded.expires_at),
                    fencing_token = CASE WHEN held.token = excluded.token AND held.expires_at > excluded.acquired_at
                                         THEN held.fencing_token
                                         ELSE MAX(held.fencing_token + 1, excluded.fencing_token) END,
                    readers = '-', version = held.version + 1
                WHERE (held.token = excluded.token OR held.expires_at <= excluded.acquired_at)
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
                SELECT token, holder, acquired_at, expires_at, fencing_token, readers, promoter, promoter_until,
                       1 AS waited, version, now_micros
                FROM (SELECT CAST(ROUND(unixepoch('now', 'subsec') * 1000) AS INTEGER) * 1000 AS now_micros) AS asked
                LEFT JOIN latchkey_lock ON resource = :resource""";
    }

    @Override
    public String renew() {
        return """
                UPDATE latchkey_lock
                SET expires_at = MAX(
                        expires_at, CAST(ROUND(unixepoch('now', 'subsec') * 1000) AS INTEGER) * 1000 + :ttl),
                    version = version + 1
                WHERE resource = :resource AND token = :token AND fencing_token = :fencing_token
                  AND expires_at > CAST(ROUND(unixepoch('now', 'subsec') * 1000) AS INTEGER) * 1000""";
    }

    @Override
    public String insert() {
        return Dialect.super.insert() + "\nON CONFLICT (resource) DO NOTHING";
    }

    /** Of the whole file: each of several processes may wait for it so long that others were faster again and again. */
    @Override
    public Optional<String> lockRow() {
        return Optional.of("UPDATE latchkey_lock SET version = version WHERE resource = :resource");
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
                  AND expires_at > CAST(ROUND(unixepoch('now', 'subsec') * 1000) AS INTEGER) * 1000""";
    }

    @Override
    public boolean isTransient(SQLException e) {
        int primaryCode = e.getErrorCode() & 0xff;
        return primaryCode == BUSY || primaryCode == LOCKED;
    }

    @Override
    public boolean isMissingTable(SQLException e) {
        return String.valueOf(e.getMessage()).contains("no such table");
    }

    /** The only one it has; its single statements are as atomic as any. */
    @Override
    public boolean suits(int isolation) {
        return true;
    }
}
