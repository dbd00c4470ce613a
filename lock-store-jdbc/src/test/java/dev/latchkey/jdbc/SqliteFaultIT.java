package dev.latchkey.jdbc;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sqlite.SQLiteErrorCode;

/** A SQLite file that others use as well. */
class SqliteFaultIT {

    @TempDir
    Path directory;

    /** A reader keeps a writer from committing, not from all that comes before: the row it returns is rolled back. */
    @Test
    void givenAReaderThatDoesNotEnd_whenAcquired_thenAFailureAndFreeOnceItHasEnded() throws Exception {
        String url = "jdbc:sqlite:" + directory.resolve("locks.db") + "?busy_timeout=50";
        try (JdbcStore store = Stores.open(url);
                LockFactory locks = new LockFactory(store)) {
            Lock before = locks.createLock("before");
            assertThat(before.tryAcquire()).isTrue();
            Lock lock = locks.createLock("report");
            try (Connection reader = DriverManager.getConnection(url);
                    Statement statement = reader.createStatement();
                    ResultSet rows = statement.executeQuery("SELECT * FROM latchkey_lock")) {
                assertThat(rows.next()).isTrue();

                assertThatThrownBy(lock::tryAcquire).isInstanceOf(LockStorageException.class);
            }
            assertThat(locks.createLock("report").tryAcquire()).isTrue();
            assertThat(before.isAcquired()).isTrue();
        }
    }

    /** Eight processes that changed the permits of one semaphore overtook one of them for 5 s. */
    @Test
    void givenOvertakenBetweenReadAndWrite_whenTriedAgain_thenNobodyCanOvertakeItMeanwhile() throws Exception {
        String url = "jdbc:sqlite:" + directory.resolve("locks.db") + "?busy_timeout=50";
        try (JdbcStore store = Stores.open(url);
                Connection own = DriverManager.getConnection(url);
                Connection others = DriverManager.getConnection(url)) {
            store.createTable();
            granted(store.save(exclusive(Key.of("report"))));
            Statements statements = new Statements(
                    Dialects.of(own), new TableName(Optional.empty(), Sql.TABLE), ReleaseCommit.ASYNCHRONOUS);
            List<Boolean> overtaken = new ArrayList<>();

            String answer = statements.change(own, "report", row -> {
                overtaken.add(isChanged(others));
                return Decision.write("written", row);
            });

            assertThat(answer).isEqualTo("written");
            assertThat(overtaken).containsExactly(true, false);
            assertThat(isChanged(others)).as("nobody is kept out any more").isTrue();
        }
    }

    private static boolean isChanged(Connection connection) {
        try (Statement statement = connection.createStatement()) {
            return statement.executeUpdate("UPDATE latchkey_lock SET version = version + 1") == 1;
        } catch (SQLException e) {
            assertThat(e.getErrorCode()).isEqualTo(SQLiteErrorCode.SQLITE_BUSY.code);
            return false;
        }
    }
}
