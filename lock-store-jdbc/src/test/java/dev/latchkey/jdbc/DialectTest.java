package dev.latchkey.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The statements of all dialects, also of those for which there is no server here. */
class DialectTest {

    private static final TableName OTHER = new TableName(Optional.of("ops"), "my_lock");
    private static final Set<String> ROW = Set.of(
            "resource",
            "token",
            "holder",
            "acquired_at",
            "expires_at",
            "fencing_token",
            "readers",
            "readers_until",
            "promoter",
            "promoter_until",
            "waited");

    static Stream<Dialect> dialects() {
        return Stream.of(
                new PostgreSqlDialect(),
                new MariaDbDialect(),
                new MySqlDialect(),
                new H2Dialect(),
                new HsqldbDialect(),
                new SqliteDialect(),
                new SqlServerDialect(),
                new OracleDialect());
    }

    @ParameterizedTest
    @MethodSource("dialects")
    void givenAnyStatement_whenTheTableHasAnotherName_thenTheDefaultOneIsNowhere(Dialect dialect) {
        assertThat(statements(dialect))
                .map(statement -> Sql.of(statement, OTHER).text())
                .allMatch(text -> text.contains("ops.my_lock"))
                .noneMatch(text -> text.contains("latchkey") || text.matches("(?s).*:[a-z].*"));
        assertThat(Schema.ofLocks(dialect, OTHER).definition()).contains("ops.my_lock (");
        assertThat(Schema.ofFences(dialect, OTHER).definition()).contains("ops.my_lock (");
        assertThat(Schema.ofIndexes(dialect, OTHER.ofIndexes()).definition())
                .contains("ops.my_lock_index (")
                .contains("exclusive_index", "shared_index");
    }

    @ParameterizedTest
    @MethodSource("dialects")
    void givenStatements_thenTheyTakeTheValuesThatAreBound(Dialect dialect) {
        assertThat(names(dialect.acquire())).contains("resource", "token", "holder", "ttl");
        assertThat(names(dialect.read())).containsExactly("resource");
        assertThat(names(dialect.renew())).containsExactlyInAnyOrder("resource", "token", "fencing_token", "ttl");
        assertThat(names(dialect.guard())).containsExactlyInAnyOrder("resource", "token", "fencing_token");
        assertThat(names(dialect.insert())).isEqualTo(new TreeSet<>(ROW));
        assertThat(names(dialect.change())).containsAll(ROW).contains("version");
        assertThat(names(dialect.release())).contains("resource", "token");
        assertThat(names(dialect.prune())).containsExactly("before");
    }

    /** Both sides of each comparison come from one clock, and no time zone has a part in it. */
    @ParameterizedTest
    @MethodSource("dialects")
    void givenStatements_thenNoneReadsTheClockInAZone(Dialect dialect) {
        assertThat(statements(dialect))
                .noneMatch(text -> text.matches("(?is).*\\b(?<!')(NOW|LOCALTIME|LOCALTIMESTAMP|GETDATE|"
                        + "UNIX_TIMESTAMP|SYSDATE|SYSDATETIME|CURDATE)\\b.*"));
    }

    @ParameterizedTest
    @MethodSource("dialects")
    void givenTheFile_thenItHasAllColumns(Dialect dialect) {
        String definition = Schema.ofLocks(dialect, new TableName(Optional.empty(), Sql.TABLE))
                .definition();

        assertThat(definition).startsWith("CREATE TABLE").contains(" latchkey_lock (");
        assertThat(ROW).allSatisfy(column -> assertThat(definition).containsPattern("\n    " + column + " "));
        assertThat(definition).containsPattern("\n    version ");
    }

    private static List<String> statements(Dialect dialect) {
        return List.of(
                dialect.acquire(),
                dialect.read(),
                dialect.renew(),
                dialect.guard(),
                dialect.insert(),
                dialect.change(),
                dialect.release(),
                dialect.prune());
    }

    private static Set<String> names(String statement) {
        return new TreeSet<>(Sql.of(statement, OTHER).names());
    }
}
