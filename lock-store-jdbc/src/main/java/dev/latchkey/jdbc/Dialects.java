package dev.latchkey.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Locale;

/** Finds out which database it is. */
final class Dialects {

    private Dialects() {}

    static Dialect of(Connection connection) throws SQLException {
        DatabaseMetaData metaData = connection.getMetaData();
        String product = metaData.getDatabaseProductName();
        return switch (product.toLowerCase(Locale.ROOT)) {
            case "postgresql" -> new PostgreSqlDialect();
            case "mariadb" -> new MariaDbDialect();
            case "mysql" -> isMariaDb(metaData) ? viaMySqlDriver(metaData) : new MySqlDialect();
            case "h2" -> new H2Dialect();
            case "hsql database engine" -> new HsqldbDialect();
            case "sqlite" -> new SqliteDialect();
            case "microsoft sql server" -> new SqlServerDialect();
            case "oracle" -> new OracleDialect();
            default ->
                throw new SQLFeatureNotSupportedException("no locks on " + product + ": the databases are PostgreSQL,"
                        + " MySQL, MariaDB, H2, HSQLDB, SQLite, SQL Server and Oracle");
        };
    }

    /** MySQL's driver calls MariaDB by the name of MySQL. */
    private static boolean isMariaDb(DatabaseMetaData metaData) throws SQLException {
        return metaData.getDatabaseProductVersion().contains("MariaDB");
    }

    private static Dialect viaMySqlDriver(DatabaseMetaData metaData) throws SQLException {
        return metaData.getDriverName().startsWith("MySQL") ? new MySqlDialect() : new MariaDbDialect();
    }
}
