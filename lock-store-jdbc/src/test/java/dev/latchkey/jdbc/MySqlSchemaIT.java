package dev.latchkey.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.servers.MariaDbServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whether the table is there, where a schema is a database, with the drivers of MariaDB and MySQL. */
class MySqlSchemaIT {

    @ParameterizedTest
    @ValueSource(strings = {"mariadb", "mysql"})
    void givenTheNameInAnotherDatabase_whenCreated_thenItIsThereAndNotBefore(String driver) throws SQLException {
        TableName here = new TableName(Optional.empty(), "found_lock");
        TableName there = new TableName(Optional.of("latchkey_ops"), "found_lock");
        try (Connection connection = connect(driver);
                Statement statement = connection.createStatement()) {
            Dialect dialect = Dialects.of(connection);
            statement.execute("DROP TABLE IF EXISTS found_lock, found1lock");
            statement.execute("DROP DATABASE IF EXISTS latchkey_ops");
            statement.execute("CREATE DATABASE latchkey_ops");
            statement.execute("CREATE TABLE found1lock (id INT)");
            assertThat(dialect.hasTable(connection, here)).isFalse();

            Schema.ofLocks(dialect, here).create(connection);
            assertThat(dialect.hasTable(connection, here)).isTrue();
            assertThat(dialect.hasTable(connection, there)).isFalse();

            Schema.ofLocks(dialect, there).create(connection);
            assertThat(dialect.hasTable(connection, there)).isTrue();
            statement.execute("DROP TABLE found1lock, found_lock");
            statement.execute("DROP DATABASE latchkey_ops");
        }
    }

    private static Connection connect(String driver) throws SQLException {
        Dsn dsn = Dsn.parse(MariaDbServer.sharedDsn()
                .replaceFirst("^mariadb:", driver + ":")
                .replaceFirst("sslMode=disable", driver.equals("mysql") ? "sslMode=DISABLED" : "sslMode=disable"));
        return DriverManager.getConnection(
                dsn.url(), dsn.user().orElseThrow(), dsn.password().orElse(""));
    }
}
