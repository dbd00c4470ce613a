package dev.latchkey.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whether the table is there, on a database that keeps names in capitals. */
class SchemaTest {

    private final Dialect dialect = new H2Dialect();
    private Connection connection;

    @BeforeEach
    void connect() throws SQLException {
        connection = DriverManager.getConnection("jdbc:h2:mem:");
        try (Statement statement = connection.createStatement()) {
            statement.execute("CREATE SCHEMA ops");
        }
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"billing_lock", "Billing_Lock", "BILLING_LOCK"})
    void givenAName_whenCreatedTwice_thenItIsThere(String name) throws SQLException {
        TableName table = new TableName(Optional.empty(), name);
        assertThat(dialect.hasTable(connection, table)).isFalse();

        Schema.ofLocks(dialect, table).create(connection);
        Schema.ofLocks(dialect, table).create(connection);

        assertThat(dialect.hasTable(connection, table)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"ops", "OPS"})
    void givenASchema_whenCreatedThere_thenItIsThereAndNowhereElse(String schema) throws SQLException {
        TableName there = new TableName(Optional.of(schema), "latchkey_lock");

        Schema.ofLocks(dialect, there).create(connection);

        assertThat(dialect.hasTable(connection, there)).isTrue();
        assertThat(dialect.hasTable(connection, new TableName(Optional.empty(), "latchkey_lock")))
                .isFalse();
    }

    /** In a pattern of names an underscore stands for any letter. */
    @Test
    void givenATableOfASimilarName_whenAskedFor_thenItIsNotThere() throws SQLException {
        Schema.ofLocks(dialect, new TableName(Optional.empty(), "billing1lock")).create(connection);

        assertThat(dialect.hasTable(connection, new TableName(Optional.empty(), "billing_lock")))
                .isFalse();
    }
}
