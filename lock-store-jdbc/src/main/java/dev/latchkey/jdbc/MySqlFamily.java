package dev.latchkey.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;

/** What MySQL and MariaDB have in common: all but how an acquire answers. */
interface MySqlFamily extends Dialect {

    int DEADLOCK = 1213;
    int DUPLICATE_KEY = 1062;

    /** Nobody has a live lease. */
    String IS_FREE =
            "latchkey_lock.expires_at <= VALUES(acquired_at) AND latchkey_lock.readers_until <= VALUES(acquired_at)";

    /** Nobody else has. */
    String GRANTS = "latchkey_lock.token = VALUES(token) OR " + IS_FREE;

    /** The next fencing token if nobody has a live lease, else the last. */
    String NEXT_TOKEN = "IF(" + IS_FREE
            + ", GREATEST(latchkey_lock.fencing_token + 1, VALUES(acquired_at)), latchkey_lock.fencing_token)";

    /**
     * Takes the hold or renews it, with what sets the fencing token. Right in whatever order columns are set: MariaDB does so
     * from left to right, or all at once in the modes ORACLE and SIMULTANEOUS_ASSIGNMENT. The fencing token comes first, for
     * it has to know whether the lease of before is over. The condition of the others comes to the same before and after:
     * where it is true the token becomes the new one and it stays true, where it is false nothing changes.
     */
    default String upsert(String firstToken, String fencingToken) {
        return """
                INSERT INTO latchkey_lock
                    (resource, token, holder, acquired_at, expires_at, fencing_token,
                     readers, readers_until, promoter, promoter_until, waited, version)
                SELECT :resource, :token, :holder, asked.at, asked.at + :ttl, %s, '-', 0, '-', 0, 0, asked.at
                FROM (SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6)) AS at) AS asked
                ON DUPLICATE KEY UPDATE
                    fencing_token = %s,
                    token = IF(%s, VALUES(token), latchkey_lock.token),
                    holder = IF(%s, VALUES(holder), latchkey_lock.holder),
                    acquired_at = IF(%s, VALUES(acquired_at), latchkey_lock.acquired_at),
                    readers = IF(%s, '-', latchkey_lock.readers),
                    version = latchkey_lock.version + IF(%s, 1, 0),
                    expires_at = IF(%s,
                        GREATEST(latchkey_lock.expires_at, VALUES(expires_at)), latchkey_lock.expires_at)""".formatted(firstToken, fencingToken, GRANTS, GRANTS, GRANTS, GRANTS, GRANTS, GRANTS);
    }

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
                SET expires_at = GREATEST(
                        expires_at, TIMESTAMPDIFF(MICROSECOND, '1970-01-01 00:00:00', UTC_TIMESTAMP(6)) + :ttl),
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

    /** A plain read would show what was there when the transaction began. */
    @Override
    default String readFence() {
        return Dialect.super.readFence() + " FOR UPDATE";
    }

    /** Not by the drivers with {@code useAffectedRows}. */
    @Override
    default boolean countsUnchanged() {
        return false;
    }

    /** What others call a schema is a catalog to their drivers. */
    @Override
    default boolean hasTable(Connection connection, TableName name) throws SQLException {
        if (name.place().isPresent()) {
            return finds(connection, name);
        }
        DatabaseMetaData metaData = connection.getMetaData();
        String database = name.schema().orElse(connection.getCatalog());
        String table = name.table().replace("_", metaData.getSearchStringEscape() + "_");
        try (ResultSet tables = metaData.getTables(database, null, table, null)) {
            return tables.next();
        }
    }

    @Override
    default Optional<String> place(Connection connection, TableName name) throws SQLException {
        String database = connection.getCatalog();
        return database != null && hasTable(connection, name)
                ? Optional.of("`" + database.replace("`", "``") + "`")
                : Optional.empty();
    }

    /** Those of Galera, and of MySQL's group replication, where it takes writes at all its servers. */
    @Override
    default Optional<String> severalClocks(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet variables = statement.executeQuery("SHOW GLOBAL VARIABLES WHERE Variable_name IN"
                        + " ('wsrep_on', 'group_replication_single_primary_mode')")) {
            while (variables.next()) {
                String name = variables.getString(1);
                String severalIf = name.startsWith("wsrep") ? "ON" : "OFF";
                if (severalIf.equalsIgnoreCase(variables.getString(2))) {
                    return Optional.of(name + "=" + severalIf);
                }
            }
            return Optional.empty();
        }
    }

    @Override
    default boolean isTransient(SQLException e) {
        return e.getErrorCode() == DEADLOCK || e.getErrorCode() == DUPLICATE_KEY;
    }
}
