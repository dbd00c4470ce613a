package dev.latchkey.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
}
