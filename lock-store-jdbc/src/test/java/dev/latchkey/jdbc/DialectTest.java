package dev.latchkey.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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

    /** Those of its SQL Language Reference. */
    private static final Set<String> RESERVED_ON_ORACLE = Set.of(("ACCESS ADD ALL ALTER AND ANY AS ASC AUDIT BETWEEN BY"
                    + " CHAR CHECK CLUSTER COLUMN COLUMN_VALUE COMMENT COMPRESS CONNECT CREATE CURRENT DATE DECIMAL DEFAULT"
                    + " DELETE DESC DISTINCT DROP ELSE EXCLUSIVE EXISTS FILE FLOAT FOR FROM GRANT GROUP HAVING IDENTIFIED"
                    + " IMMEDIATE IN INCREMENT INDEX INITIAL INSERT INTEGER INTERSECT INTO IS LEVEL LIKE LOCK LONG"
                    + " MAXEXTENTS MINUS MLSLABEL MODE MODIFY NESTED_TABLE_ID NOAUDIT NOCOMPRESS NOT NOWAIT NULL NUMBER OF"
                    + " OFFLINE ON ONLINE OPTION OR ORDER PCTFREE PRIOR PUBLIC RAW RENAME RESOURCE REVOKE ROW ROWID ROWNUM"
                    + " ROWS SELECT SESSION SET SHARE SIZE SMALLINT START SUCCESSFUL SYNONYM SYSDATE TABLE THEN TO TRIGGER"
                    + " UID UNION UNIQUE UPDATE USER VALIDATE VALUES VARCHAR VARCHAR2 VIEW WHENEVER WHERE WITH")
            .split(" "));

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
                .map(statement -> Sql.of(statement, dialect, OTHER).text())
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
        assertThat(names(dialect, dialect.acquire())).contains("resource", "token", "holder", "ttl");
        assertThat(names(dialect, dialect.read())).containsExactly("resource");
        assertThat(names(dialect, dialect.renew()))
                .containsExactlyInAnyOrder("resource", "token", "fencing_token", "ttl");
        assertThat(names(dialect, dialect.guard())).containsExactlyInAnyOrder("resource", "token", "fencing_token");
        assertThat(names(dialect, dialect.insert())).containsAll(ROW).contains("version");
        assertThat(names(dialect, dialect.change())).containsAll(ROW).contains("version");
        assertThat(names(dialect, dialect.release())).contains("resource", "token");
        assertThat(names(dialect, Statements.READ_UNUSED)).containsExactly("before");
        assertThat(names(dialect, Statements.DELETE_UNUSED)).containsExactlyInAnyOrder("resource", "version");
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
        assertThat(ROW).allSatisfy(column -> assertThat(definition).containsPattern("(?i)\n    \"?" + column + "\"? "));
        assertThat(definition).containsPattern("\n    version ");
    }

    /** A page begins after the last name of the one before: what is smaller for one of them must not be greater for the other. */
    @ParameterizedTest
    @MethodSource("dialects")
    void givenAPage_thenItIsSortedByWhatItIsComparedBy(Dialect dialect) {
        String text = Sql.of(Listing.rowsAfter(Optional.of("a"), dialect), dialect, OTHER)
                .text()
                .replace("?", dialect.adapt("resource"));
        String order = text.substring(text.indexOf(" ORDER BY ") + " ORDER BY ".length());

        assertThat(text).contains(" AND " + order + " > " + order + " ORDER BY ");
        assertThat(Listing.rowsAfter(Optional.empty(), dialect)).endsWith(" ORDER BY " + dialect.ordered("resource"));
    }

    @Test
    void givenOracle_thenTheOrderIsTheSameInEverySession() {
        assertThat(new OracleDialect().ordered("x")).isEqualTo("NLSSORT(x, 'NLS_SORT=BINARY')");
    }

    /** 4096 is the driver's number of the snapshot isolation. */
    @ParameterizedTest
    @CsvSource({"1,true", "2,true", "4,true", "8,false", "4096,false"})
    void givenSqlServer_thenStatementsRunAtIsolationsInWhichRivalsWait(int isolation, boolean suits) {
        assertThat(new SqlServerDialect().suits(isolation)).isEqualTo(suits);
    }

    /** Identifiers are written in small letters, and what belongs to the language in capitals. */
    @Test
    void givenOracle_thenNoNameIsAReservedWordUnlessQuoted() {
        Dialect oracle = new OracleDialect();
        Pattern name = Pattern.compile("(?<![:\"'\\w])[a-z]\\w*");
        Stream<String> shared = Stream.of(
                Statements.READ_SOME,
                StateIndexes.RAISE,
                StateIndexes.INSERT,
                StateIndexes.READ,
                FencingGuard.RAISE,
                oracle.readFence(),
                oracle.insertFence());
        Stream<String> sent = Stream.concat(statements(oracle).stream(), shared).map(oracle::adapt);
        Stream<String> files = Stream.of(
                        Schema.ofLocks(oracle, OTHER), Schema.ofFences(oracle, OTHER), Schema.ofIndexes(oracle, OTHER))
                .map(Schema::definition);
        Set<String> names = Stream.concat(sent, files)
                .flatMap(text -> name.matcher(text).results())
                .map(found -> found.group().toUpperCase(Locale.ROOT))
                .collect(Collectors.toSet());

        assertThat(names).contains("TOKEN", "EXCLUSIVE_INDEX").doesNotContainAnyElementsOf(RESERVED_ON_ORACLE);
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
                Statements.READ_UNUSED,
                Statements.DELETE_UNUSED);
    }

    private static Set<String> names(Dialect dialect, String statement) {
        return new TreeSet<>(Sql.of(statement, dialect, OTHER).names());
    }
}
