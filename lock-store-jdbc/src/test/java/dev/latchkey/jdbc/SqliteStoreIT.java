package dev.latchkey.jdbc;

import dev.latchkey.servers.PatientDsn;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.testkit.SecondProcess;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.sqlite.SQLiteErrorCode;

/** All contracts on SQLite. Each test has a file of its own, for one has one writer at a time, and whoever waits for it too long fails. */
class SqliteStoreIT implements JdbcContracts {

    @TempDir
    Path directory;

    private JdbcStore store;

    @BeforeEach
    void open() {
        store = Stores.open(dsn());
    }

    @AfterEach
    void close() {
        store.close();
    }

    @Override
    public PersistingStore store() {
        return store;
    }

    @Override
    public PersistingStore separateStore() {
        return Stores.openOthers(dsn());
    }

    /** The driver waits for a locked file for 3 s, and whoever waits is served in no order: on a busy machine, too late. */
    @Override
    public String dsn() {
        return PatientDsn.sqlite(file());
    }

    /** No test cuts the power of the machine: what was written survives the end of a process without a flush. */
    private String file() {
        return "jdbc:sqlite:" + directory.resolve("locks.db") + "?synchronous=OFF";
    }

    /** Not in the middle of a write: nobody could write beside it, whatever is locked. */
    @Override
    public void freezeWaiter(SecondProcess other) {
        Awaitility.await("a moment in which it does not write").until(() -> {
            other.freeze();
            boolean isWritable = isWritable();
            if (!isWritable) {
                other.thaw();
            }
            return isWritable;
        });
    }

    private boolean isWritable() throws SQLException {
        try (Connection connection = DriverManager.getConnection(file() + "&busy_timeout=0");
                Statement statement = connection.createStatement()) {
            statement.execute("BEGIN IMMEDIATE");
            statement.execute("ROLLBACK");
            return true;
        } catch (SQLException e) {
            if (e.getErrorCode() == SQLiteErrorCode.SQLITE_BUSY.code) {
                return false;
            }
            throw e;
        }
    }

    /** Each hold waits for the disk. */
    @Override
    public int listedResources() {
        return 60;
    }
}
