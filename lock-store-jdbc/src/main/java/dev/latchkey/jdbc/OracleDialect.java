package dev.latchkey.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.regex.Pattern;

/** Oracle from 12.2 on. A row that is there is taken in one statement; the first hold of a resource reads and inserts. */
final class OracleDialect implements Dialect {

    private static final int DEADLOCK = 60;
    private static final int DUPLICATE_KEY = 1;
    private static final int CANNOT_SERIALIZE = 8177;
    private static final int NO_SUCH_TABLE = 942;

    /** As the name of a column; {@code :resource} is a value. */
    private static final Pattern RESOURCE = Pattern.compile("(?<!:)\\bresource\\b");

    @Override
    public String name() {
        return "oracle";
    }

    /** {@inheritDoc} The name of the column is a reserved word there. */
    @Override
    public String adapt(String statement) {
        return RESOURCE.matcher(statement).replaceAll("\"RESOURCE\"");
    }

    @Override
    public String acquire() {
        return """
                UPDATE latchkey_lock
                SET fencing_token = CASE
                        WHEN token = :token AND expires_at > (SELECT EXTRACT(DAY FROM since_1970) * 86400000000 + EXTRACT(HOUR FROM since_1970) * 3600000000
                                + EXTRACT(MINUTE FROM since_1970) * 60000000
                                + TRUNC(EXTRACT(SECOND FROM since_1970) * 1000000)
                         FROM (SELECT SYS_EXTRACT_UTC(SYSTIMESTAMP) - TIMESTAMP '1970-01-01 00:00:00' AS since_1970
                               FROM dual))
                        THEN fencing_token
                        ELSE GREATEST(
                            fencing_token + 1,
                            (SELECT EXTRACT(DAY FROM since_1970) * 86400000000 + EXTRACT(HOUR FROM since_1970) * 3600000000
                                + EXTRACT(MINUTE FROM since_1970) * 60000000
                                + TRUNC(EXTRACT(SECOND FROM since_1970) * 1000000)
                         FROM (SELECT SYS_EXTRACT_UTC(SYSTIMESTAMP) - TIMESTAMP '1970-01-01 00:00:00' AS since_1970
                               FROM dual))) END,
                    token = :token, holder = :holder, readers = '-', version = version + 1,
                    acquired_at = (SELECT EXTRACT(DAY FROM since_1970) * 86400000000 + EXTRACT(HOUR FROM since_1970) * 3600000000
                                + EXTRACT(MINUTE FROM since_1970) * 60000000
                                + TRUNC(EXTRACT(SECOND FROM since_1970) * 1000000)
                         FROM (SELECT SYS_EXTRACT_UTC(SYSTIMESTAMP) - TIMESTAMP '1970-01-01 00:00:00' AS since_1970
                               FROM dual)),
                    expires_at = GREATEST(expires_at, (SELECT EXTRACT(DAY FROM since_1970) * 86400000000 + EXTRACT(HOUR FROM since_1970) * 3600000000
                                + EXTRACT(MINUTE FROM since_1970) * 60000000
                                + TRUNC(EXTRACT(SECOND FROM since_1970) * 1000000)
                         FROM (SELECT SYS_EXTRACT_UTC(SYSTIMESTAMP) - TIMESTAMP '1970-01-01 00:00:00' AS since_1970
                               FROM dual)) + :ttl)
                WHERE resource = :resource
                  AND (token = :token
                       OR expires_at <= (SELECT EXTRACT(DAY FROM since_1970) * 86400000000 + EXTRACT(HOUR FROM since_1970) * 3600000000
                                + EXTRACT(MINUTE FROM since_1970) * 60000000
                                + TRUNC(EXTRACT(SECOND FROM since_1970) * 1000000)
                         FROM (SELECT SYS_EXTRACT_UTC(SYSTIMESTAMP) - TIMESTAMP '1970-01-01 00:00:00' AS since_1970
                               FROM dual)))
                  AND readers_until <= (SELECT EXTRACT(DAY FROM since_1970) * 86400000000 + EXTRACT(HOUR FROM since_1970) * 3600000000
                                + EXTRACT(MINUTE FROM since_1970) * 60000000
                                + TRUNC(EXTRACT(SECOND FROM since_1970) * 1000000)
                         FROM (SELECT SYS_EXTRACT_UTC(SYSTIMESTAMP) - TIMESTAMP '1970-01-01 00:00:00' AS since_1970
                               FROM dual))""";
    }

    @Override
    public Answer answer() {
        return Answer.CHANGED_COLUMN;
    }

    @Override
    public String read() {
        return """
                SELECT token, holder, acquired_at, expires_at, fencing_token, readers, promoter, promoter_until,
                       1 AS waited, version, now_micros
                FROM (SELECT (SELECT EXTRACT(DAY FROM since_1970) * 86400000000 + EXTRACT(HOUR FROM since_1970) * 3600000000
                                + EXTRACT(MINUTE FROM since_1970) * 60000000
                                + TRUNC(EXTRACT(SECOND FROM since_1970) * 1000000)
                         FROM (SELECT SYS_EXTRACT_UTC(SYSTIMESTAMP) - TIMESTAMP '1970-01-01 00:00:00' AS since_1970
                               FROM dual)) AS now_micros FROM dual) asked
                LEFT JOIN latchkey_lock ON resource = :resource""";
    }

    @Override
    public String renew() {
        return """
                UPDATE latchkey_lock
                SET expires_at = GREATEST(expires_at, (SELECT EXTRACT(DAY FROM since_1970) * 86400000000 + EXTRACT(HOUR FROM since_1970) * 3600000000
                                + EXTRACT(MINUTE FROM since_1970) * 60000000
                                + TRUNC(EXTRACT(SECOND FROM since_1970) * 1000000)
                         FROM (SELECT SYS_EXTRACT_UTC(SYSTIMESTAMP) - TIMESTAMP '1970-01-01 00:00:00' AS since_1970
                               FROM dual)) + :ttl),
                    version = version + 1
                WHERE resource = :resource AND token = :token AND fencing_token = :fencing_token
                  AND expires_at > (SELECT EXTRACT(DAY FROM since_1970) * 86400000000 + EXTRACT(HOUR FROM since_1970) * 3600000000
                                + EXTRACT(MINUTE FROM since_1970) * 60000000
                                + TRUNC(EXTRACT(SECOND FROM since_1970) * 1000000)
                         FROM (SELECT SYS_EXTRACT_UTC(SYSTIMESTAMP) - TIMESTAMP '1970-01-01 00:00:00' AS since_1970
                               FROM dual))""";
    }

    @Override
    public String guard() {
        return """
                UPDATE latchkey_lock
                SET version = version + 1
                WHERE resource = :resource AND token = :token AND fencing_token = :fencing_token
                  AND expires_at > (SELECT EXTRACT(DAY FROM since_1970) * 86400000000 + EXTRACT(HOUR FROM since_1970) * 3600000000
                                + EXTRACT(MINUTE FROM since_1970) * 60000000
                                + TRUNC(EXTRACT(SECOND FROM since_1970) * 1000000)
                         FROM (SELECT SYS_EXTRACT_UTC(SYSTIMESTAMP) - TIMESTAMP '1970-01-01 00:00:00' AS since_1970
                               FROM dual))""";
    }

    /** {@inheritDoc} A session may sort by the rules of a language, and compare by bytes. */
    @Override
    public String ordered(String name) {
        return "NLSSORT(" + name + ", 'NLS_SORT=BINARY')";
    }

    @Override
    public boolean isTransient(SQLException e) {
        return e.getErrorCode() == DEADLOCK
                || e.getErrorCode() == DUPLICATE_KEY
                || e.getErrorCode() == CANNOT_SERIALIZE;
    }

    /** {@inheritDoc} A name may be a synonym. */
    @Override
    public boolean hasTable(Connection connection, TableName name) throws SQLException {
        return finds(connection, name);
    }

    @Override
    public boolean isMissingTable(SQLException e) {
        return e.getErrorCode() == NO_SUCH_TABLE;
    }
}
