package dev.latchkey.jdbc;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.latchkey.Key;
import dev.latchkey.LockLostException;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.MariaDbServer;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.spi.Response;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Applications with several tenants change where their connections look for tables, and some give them back so. */
class OtherSchemaIT {

    /** Servers, how a connection is made to look elsewhere, and that place is made. */
    private enum Server {
        POSTGRESQL("CREATE SCHEMA IF NOT EXISTS tenant", "SET search_path = tenant", "DROP SCHEMA tenant CASCADE"),
        MARIADB("CREATE DATABASE IF NOT EXISTS tenant", "USE tenant", "DROP DATABASE tenant");

        private final String creation;
        private final String change;
        private final String end;

        Server(String creation, String change, String end) {
            this.creation = creation;
            this.change = change;
            this.end = end;
        }

        /** Of one connection: who comes next gets that which was changed. */
        HikariDataSource pool() {
            HikariDataSource pool = new HikariDataSource();
            pool.setMaximumPoolSize(1);
            if (this == POSTGRESQL) {
                pool.setJdbcUrl(PostgresServer.jdbcUrl(PostgresServer.sharedDsn()));
                return pool;
            }
            Dsn dsn = Dsn.parse(MariaDbServer.sharedDsn());
            pool.setJdbcUrl(dsn.url());
            dsn.user().ifPresent(pool::setUsername);
            dsn.password().ifPresent(pool::setPassword);
            return pool;
        }

        String schema(HikariDataSource pool) throws SQLException {
            try (Connection connection = pool.getConnection()) {
                return Objects.requireNonNull(this == POSTGRESQL ? connection.getSchema() : connection.getCatalog());
            }
        }
    }

    /** The table was made there as well, and every lock was free in it. */
    @ParameterizedTest
    @EnumSource(Server.class)
    void givenAHeldLock_whenAConnectionLooksElsewhere_thenItIsNotGrantedASecondTime(Server server) throws Exception {
        try (HikariDataSource pool = server.pool()) {
            JdbcStore store = JdbcStore.builder(pool).table("tenants_lock").build();
            run(pool, server.creation);
            Key holder = Key.of("report");
            granted(store.save(exclusive(holder)));
            run(pool, server.change);

            assertThat(store.save(exclusive(Key.of("report")))).isInstanceOf(Response.Conflicted.class);
            assertThat(store.delete(holder)).isTrue();

            run(pool, server.end);
        }
    }

    /** As where a migration of the application is run for each tenant. */
    @ParameterizedTest
    @EnumSource(Server.class)
    void givenTheTableIsInBothPlaces_whenAConnectionLooksElsewhere_thenTheSameLocksAreThere(Server server)
            throws Exception {
        try (HikariDataSource pool = server.pool()) {
            run(pool, server.creation);
            JdbcStore.builder(pool).table("migrated_lock").build().createTable();
            JdbcStore.builder(pool)
                    .schema("tenant")
                    .table("migrated_lock")
                    .build()
                    .createTable();
            JdbcStore store = JdbcStore.builder(pool)
                    .table("migrated_lock")
                    .existingTable()
                    .build();
            Key holder = Key.of("report");
            granted(store.save(exclusive(holder)));
            run(pool, server.change);

            assertThat(store.save(exclusive(Key.of("report")))).isInstanceOf(Response.Conflicted.class);
            assertThat(store.delete(holder)).isTrue();

            run(pool, server.end);
        }
    }

    /** The connection found another table of that name, which had seen no token. */
    @ParameterizedTest
    @EnumSource(Server.class)
    void givenTheGuardsTableIsInBothPlaces_whenAConnectionLooksElsewhere_thenTheSmallerTokenIsRefused(Server server)
            throws Exception {
        try (HikariDataSource pool = server.pool()) {
            FencingGuard guard = new FencingGuard(server.schema(pool), "tenants_fence");
            run(pool, server.creation);
            createTable(pool, guard);
            check(pool, guard, 2);
            run(pool, server.change);
            createTable(pool, new FencingGuard("tenants_fence"));

            assertThatThrownBy(() -> check(pool, guard, 1)).isInstanceOf(LockLostException.class);
            check(pool, guard, 3);

            run(pool, server.end);
        }
    }

    private static void createTable(HikariDataSource pool, FencingGuard guard) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            guard.createTable(connection);
        }
    }

    private static void check(HikariDataSource pool, FencingGuard guard, long fencingToken) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            guard.check(connection, "report", fencingToken);
            connection.commit();
        }
    }

    /** That of the indexes: the store looks anew for its tables then. */
    @ParameterizedTest
    @EnumSource(Server.class)
    void givenTheTableIsInBothPlaces_whenAnotherTableIsMissing_thenTheSameLocksAreThere(Server server)
            throws Exception {
        try (HikariDataSource pool = server.pool()) {
            run(pool, server.creation);
            JdbcStore.builder(pool).table("partial_lock").build().createTable();
            JdbcStore.builder(pool)
                    .schema("tenant")
                    .table("partial_lock")
                    .build()
                    .createTable();
            JdbcStore store = JdbcStore.builder(pool)
                    .table("partial_lock")
                    .existingTable()
                    .build();
            Key holder = Key.of("report");
            granted(store.save(exclusive(holder)));
            run(pool, server.change);
            assertThatThrownBy(() -> store.indexes(List.of("report"))).isInstanceOf(LockStorageException.class);

            assertThat(store.save(exclusive(Key.of("report")))).isInstanceOf(Response.Conflicted.class);
            assertThat(store.delete(holder)).isTrue();

            run(pool, server.end);
        }
    }

    @ParameterizedTest
    @EnumSource(Server.class)
    void givenAnExistingTable_whenItIsCreatedByAConnectionThatLooksElsewhere_thenNotASecondTime(Server server)
            throws Exception {
        try (HikariDataSource pool = server.pool()) {
            run(pool, server.creation);
            JdbcStore.builder(pool).table("known_lock").build().createTable();
            JdbcStore store =
                    JdbcStore.builder(pool).table("known_lock").existingTable().build();
            granted(store.save(exclusive(Key.of("report"))));
            run(pool, server.change);

            store.createTable();

            assertThat(store.save(exclusive(Key.of("report")))).isInstanceOf(Response.Conflicted.class);
            assertThatThrownBy(() -> run(pool, "SELECT * FROM tenant.known_lock"))
                    .isInstanceOf(SQLException.class);
            run(pool, server.end);
        }
    }

    /** The table is gone, and nothing says any more where it was. */
    @ParameterizedTest
    @EnumSource(Server.class)
    void givenADroppedTable_whenAConnectionLooksElsewhere_thenItIsNotMadeThere(Server server) throws Exception {
        try (HikariDataSource pool = server.pool()) {
            JdbcStore store = JdbcStore.builder(pool).table("dropped_lock").build();
            run(pool, server.creation);
            granted(store.save(exclusive(Key.of("report"))));
            run(pool, "DROP TABLE dropped_lock");
            run(pool, server.change);

            assertThatThrownBy(() -> store.save(exclusive(Key.of("report"))))
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("schema(");

            run(pool, server.end);
        }
    }

    @ParameterizedTest
    @EnumSource(Server.class)
    void givenTheSchemaIsNamed_whenAConnectionLooksElsewhere_thenTheSameLocksAreThere(Server server) throws Exception {
        try (HikariDataSource pool = server.pool()) {
            JdbcStore store = JdbcStore.builder(pool)
                    .schema(server.schema(pool))
                    .table("tenants_lock")
                    .build();
            run(pool, server.creation);
            Key holder = Key.of("plan");
            granted(store.save(exclusive(holder)));
            run(pool, server.change);

            assertThat(store.save(exclusive(Key.of("plan")))).isInstanceOf(Response.Conflicted.class);
            assertThat(store.delete(holder)).isTrue();

            run(pool, server.end);
        }
    }

    private static void run(HikariDataSource pool, String sql) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
