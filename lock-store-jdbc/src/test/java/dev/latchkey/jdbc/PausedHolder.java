package dev.latchkey.jdbc;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.testkit.TimeLimits;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

/**
 * Holds a lock, is paused for longer than its lease (by whoever started it), wakes up and writes. Both guards refuse what
 * it writes: that of the fencing token, kept beside the data, and that of the lock's own row.
 *
 * <p>Arguments: the DSN of the locks, the JDBC URL of the data. Prints {@code holding}, waits for a line, writes.
 */
final class PausedHolder {

    private PausedHolder() {}

    /**
     * Runs it.
     *
     * @param args as above
     * @throws Exception if anything but the guards fails
     */
    public static void main(String[] args) throws Exception {
        try (JdbcStore store = Stores.open(args[0]);
                LockFactory locks = new LockFactory(store);
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            Lock lock = locks.createLock("account", TimeLimits.ttl(Duration.ofSeconds(8)))
                    .acquire();
            long fencingToken = lock.fencingToken().orElseThrow();
            var key = lock.key();
            System.out.println("holding");
            in.readLine();
            try (Connection connection = DriverManager.getConnection(args[1])) {
                connection.setAutoCommit(false);
                tell("fencing guard", connection, () -> new FencingGuard().check(connection, "account", fencingToken));
                tell("store guard", connection, () -> store.guard(connection, key));
            }
        }
    }

    private static void tell(String guard, Connection connection, Runnable check) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate("UPDATE account SET balance = 0");
            check.run();
            connection.commit();
            System.out.println(guard + ": written");
        } catch (LockLostException e) {
            connection.rollback();
            System.out.println(guard + ": refused " + e.reason());
        }
    }
}
