package dev.latchkey.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

/** SQL Server from 2016 on, and Azure SQL. */
final class SqlServerDialect implements Dialect {

    private static final int DEADLOCK = 1205;
    private static final int DUPLICATE_KEY = 2627;
    private static final int INVALID_OBJECT = 208;

    @Override
    public String name() {
        return "sqlserver";
    }

    @Override
    public String acquire() {
        return """
                MERGE INTO latchkey_lock WITH (HOLDLOCK) AS held
                USING (SELECT DATEDIFF_BIG(MICROSECOND, '1970-01-01', SYSUTCDATETIME()) AS at) AS asked
                ON held.resource = :resource
                WHEN MATCHED AND (held.token = :token OR held.expires_at <= asked.at)
                             AND held.readers_until <= asked.at
                    THEN UPDATE SET
                        fencing_token = CASE
                            WHEN held.token = :token AND held.expires_at > asked.at THEN held.fencing_token
                            WHEN held.fencing_token >= asked.at THEN held.fencing_token + 1
                            ELSE asked.at END,
                        token = :token, holder = :holder, acquired_at = asked.at,
                        expires_at = CASE WHEN held.expires_at > asked.at + :ttl THEN held.expires_at
                                          ELSE asked.at + :ttl END,
                        readers = '-', version = held.version + 1
                WHEN NOT MATCHED
                    THEN INSERT
                        (resource, token, holder, acquired_at, expires_at, fencing_token,
                         readers, readers_until, promoter, promoter_until, waited, version)
                    VALUES (:resource, :token, :holder, asked.at, asked.at + :ttl, asked.at,
                            '-', 0, '-', 0, 0, asked.at)
                OUTPUT inserted.token, inserted.fencing_token, 0 AS remaining, inserted.readers;""";
    }

    @Override
    public Answer answer() {
        return Answer.ROW;
    }

    @Override
    public String read() {
        return """
                SELECT token, holder, acquired_at, expires_at, fencing_token, readers, promoter, promoter_until,
                       1 AS waited, version, now_micros
                FROM (SELECT DATEDIFF_BIG(MICROSECOND, '1970-01-01', SYSUTCDATETIME()) AS now_micros) asked
                LEFT JOIN latchkey_lock ON resource = :resource""";
    }

    @Override
    public String renew() {
        return """
                UPDATE latchkey_lock
                SET expires_at = CASE
                        WHEN expires_at > DATEDIFF_BIG(MICROSECOND, '1970-01-01', SYSUTCDATETIME()) + :ttl
                        THEN expires_at
                        ELSE DATEDIFF_BIG(MICROSECOND, '1970-01-01', SYSUTCDATETIME()) + :ttl END,
                    version = version + 1
                WHERE resource = :resource AND token = :token AND fencing_token = :fencing_token
                  AND expires_at > DATEDIFF_BIG(MICROSECOND, '1970-01-01', SYSUTCDATETIME())""";
    }

    @Override
    public String insert() {
        return """
                INSERT INTO latchkey_lock
                    (resource, token, holder, acquired_at, expires_at, fencing_token,
                     readers, readers_until, promoter, promoter_until, waited, version)
                SELECT :resource, :token, :holder, :acquired_at, :expires_at, :fencing_token,
                       :readers, :readers_until, :promoter, :promoter_until, :waited, :version
                WHERE NOT EXISTS (SELECT 1 FROM latchkey_lock WITH (UPDLOCK, HOLDLOCK) WHERE resource = :resource)""";
    }

    @Override
    public String guard() {
        return """
                UPDATE latchkey_lock
                SET version = version + 1
                WHERE resource = :resource AND token = :token AND fencing_token = :fencing_token
                  AND expires_at > DATEDIFF_BIG(MICROSECOND, '1970-01-01', SYSUTCDATETIME())""";
    }

    /** {@inheritDoc} Not its snapshot isolation, 4096: rivals would fail instead of wait, with an update conflict. */
    @Override
    public boolean suits(int isolation) {
        return isolation <= Connection.TRANSACTION_REPEATABLE_READ;
    }

    @Override
    public boolean isTransient(SQLException e) {
        return e.getErrorCode() == DEADLOCK || e.getErrorCode() == DUPLICATE_KEY;
    }

    /** {@inheritDoc} The schema {@code dbo} is looked in after the user's own. */
    @Override
    public boolean hasTable(Connection connection, TableName name) throws SQLException {
        return finds(connection, name);
    }

    @Override
    public boolean isMissingTable(SQLException e) {
        return e.getErrorCode() == INVALID_OBJECT;
    }
}
