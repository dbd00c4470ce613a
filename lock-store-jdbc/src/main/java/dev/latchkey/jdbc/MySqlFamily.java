package dev.latchkey.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;

/** What MySQL and MariaDB have in common: all but how an acquire answers. */
interface MySqlFamily extends Dialect {

    int DEADLOCK = 1213;
    int DUPLICATE_KEY = 1062;

    @Override
    default String read() {
        return """
                SELECT token, holder, acquired_at, expires_at, fencing_token, readers, promoter, promoter_until,
                       1 AS waited, version, now_micros
                FROM (SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6)) AS now_micros) AS asked
                LEFT JOIN latchkey_lock ON resource = :resource""";
    }

    @Override
    default String renew() {
        return """
                UPDATE latchkey_lock
                SET expires_at = TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6)) + :ttl,
                    version = version + 1
                WHERE resource = :resource AND token = :token AND fencing_token = :fencing_token
                  AND expires_at > TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6))""";
    }

    @Override
    default String insert() {
        return """
                INSERT INTO latchkey_lock
                    (resource, token, holder, acquired_at, expires_at, fencing_token,
                     readers, readers_until, promoter, promoter_until, waited, version)
                SELECT :resource, :token, :holder, :acquired_at, :expires_at, :fencing_token,
                       :readers, :readers_until, :promoter, :promoter_until, :waited, :version
                FROM (SELECT 1) AS one
                WHERE NOT EXISTS (SELECT 1 FROM latchkey_lock WHERE resource = :resource)""";
    }

    @Override
    default String guard() {
        return """
                UPDATE latchkey_lock
                SET version = version + 1
                WHERE resource = :resource AND token = :token AND fencing_token = :fencing_token
                  AND expires_at > TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6))""";
    }

    /** What others call a schema is a catalog to their drivers. */
    @Override
    default boolean hasTable(Connection connection, TableName name) throws SQLException {
        DatabaseMetaData metaData = connection.getMetaData();
        String database = name.schema().orElse(connection.getCatalog());
        String table = name.table().replace("_", metaData.getSearchStringEscape() + "_");
        try (ResultSet tables = metaData.getTables(database, null, table, null)) {
            return tables.next();
        }
    }

    @Override
    default boolean isTransient(SQLException e) {
        return e.getErrorCode() == DEADLOCK || e.getErrorCode() == DUPLICATE_KEY;
    }
}
