package dev.latchkey.jdbc;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.latchkey.Key;
import dev.latchkey.servers.MariaDbServer;
import dev.latchkey.spi.ListedResource;
import dev.latchkey.spi.ResourcePage;
import dev.latchkey.spi.StateIndex;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Names that differ in case alone, where the database, or a table of the application, takes them for one. */
class IgnoredCaseIT {

    private static final TableName LOCKS = new TableName(Optional.empty(), "ignoring_lock");
    private static final TableName FENCES = new TableName(Optional.empty(), "ignoring_fence");

    @TempDir
    Path directory;

    enum On {
        H2 {
            @Override
            String url(Path directory) {
                return "jdbc:h2:file:" + directory.resolve("locks") + ";IGNORECASE=TRUE";
            }
        },
        HSQLDB {
            @Override
            String url(Path directory) {
                return "jdbc:hsqldb:file:" + directory.resolve("locks") + ";sql.ignore_case=true;shutdown=true";
            }
        },
        MARIADB {
            @Override
            String url(Path directory) {
                return Dsn.parse(MariaDbServer.sharedDsn()).url() + "&user=root";
            }

            @Override
            String ofApplication(String definition) {
                return definition.replace("ascii_bin", "ascii_general_ci");
            }
        },
        SQLITE {
            @Override
            String url(Path directory) {
                return "jdbc:sqlite:" + directory.resolve("locks");
            }

            @Override
            String ofApplication(String definition) {
                return definition.replace("TEXT PRIMARY KEY", "TEXT COLLATE NOCASE PRIMARY KEY");
            }
        };

        abstract String url(Path directory);

        /** A table as somebody makes it who does not think of case. */
        String ofApplication(String definition) {
            return definition;
        }

        void createTables(Path directory) throws SQLException {
            try (Connection connection = DriverManager.getConnection(url(directory));
                    Statement statement = connection.createStatement()) {
                Dialect dialect = Dialects.of(connection);
                for (Schema schema : List.of(
                        Schema.ofLocks(dialect, LOCKS),
                        Schema.ofIndexes(dialect, LOCKS.ofIndexes()),
                        Schema.ofFences(dialect, FENCES))) {
                    statement.execute("DROP TABLE IF EXISTS " + schema.table().qualified());
                    statement.execute(ofApplication(schema.definition()));
                    statement.execute("INSERT INTO " + schema.table().qualified() + " "
                            + row(schema).formatted("probe"));
                    String deletion = "DELETE FROM " + schema.table().qualified() + " WHERE resource = 'PROBE'";
                    assertThat(statement.executeUpdate(deletion))
                            .as("the database takes both for one")
                            .isOne();
                }
            }
        }

        private static String row(Schema schema) {
            if (schema.table().equals(LOCKS)) {
                return "VALUES ('%s', '-', '-', 0, 0, 0, '-', 0, '-', 0, 0, 0)";
            }
            return schema.table().equals(FENCES) ? "VALUES ('%s', 0)" : "VALUES ('%s', 0, 0)";
        }

        JdbcStore store(Path directory) throws SQLException {
            createTables(directory);
            return Pools.open(
                    Dsn.parse(url(directory)),
                    builder -> builder.table(LOCKS.table()).existingTable());
        }
    }

    @ParameterizedTest
    @EnumSource
    void givenOneIsHeld_whenTheOtherIsAcquiredAndReleasedByForce_thenTheFirstStaysHeld(On database)
            throws SQLException {
        try (JdbcStore store = database.store(directory)) {
            Key lower = Key.of("job");
            Key upper = Key.of("JOB");
            granted(store.save(exclusive(lower)));

            long token = granted(store.save(exclusive(upper))).fencingToken().orElseThrow();
            assertThat(store.forceRelease("JOB", token)).isTrue();

            assertThat(store.find(upper)).isEmpty();
            assertThat(store.find(lower)).isPresent();
        }
    }

    @ParameterizedTest
    @EnumSource
    void givenSeveralAreHeld_whenListedOneByOne_thenEachComesOnceByItsName(On database) throws SQLException {
        try (JdbcStore store = database.store(directory)) {
            List<String> names = List.of("job", "JOB", "Job", "a-job", "A-job", "ajob", "z");
            names.forEach(name -> granted(store.save(exclusive(Key.of(name)))));

            List<String> listed = new ArrayList<>();
            Optional<String> after = Optional.empty();
            do {
                ResourcePage page = store.list("", after, 1);
                page.resources().stream().map(ListedResource::resource).forEach(listed::add);
                after = page.next();
            } while (after.isPresent());

            assertThat(listed).containsExactlyInAnyOrderElementsOf(names);
        }
    }

    @ParameterizedTest
    @EnumSource
    void givenTheIndexOfOne_whenTheOtherIsRead_thenItHasNone(On database) throws SQLException {
        try (JdbcStore store = database.store(directory)) {
            store.raise(Map.of("job", new StateIndex(7, 7)));

            assertThat(store.indexes(List.of("JOB"))).isEmpty();
            assertThat(store.indexes(List.of("job", "JOB"))).containsOnlyKeys("job");
        }
    }

    @ParameterizedTest
    @EnumSource
    void givenATokenOfOne_whenTheOtherIsCheckedWithASmallerOne_thenItPasses(On database) throws SQLException {
        database.createTables(directory);
        FencingGuard guard = new FencingGuard(FENCES.table());
        try (Connection connection = DriverManager.getConnection(database.url(directory))) {
            connection.setAutoCommit(false);
            guard.check(connection, "job", 7);

            assertThatCode(() -> guard.check(connection, "JOB", 3)).doesNotThrowAnyException();

            connection.rollback();
        }
    }
}
