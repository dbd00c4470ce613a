package dev.latchkey.examples;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.jdbc.FencingGuard;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;

/**
 * A lock in one place, the data in another: a writer whose time was over is refused by the data itself.
 *
 * <p>{@code FencedWrite DSN JDBC-URL NAME}: takes the lock for two seconds, waits for a line on its input, and writes. The
 * database needs {@code CREATE TABLE account (owner varchar(20))} with one row. What to see, with two of them:
 *
 * <ul>
 *   <li>Ann holds the lock, and is stopped with {@code kill -STOP} before she writes. Her lease ends.
 *   <li>Bob gets the lock, with a greater token, and writes.
 *   <li>Ann goes on with {@code kill -CONT}. She does not know how long she slept, and writes too: the guard refuses her
 *       token, and what Bob wrote stays.
 * </ul>
 *
 * <p>A check of the lock before the write would not do: she could be stopped between the check and the write.
 */
public final class FencedWrite {

    private static final Duration TTL = Duration.ofSeconds(2);

    private FencedWrite() {}

    /**
     * Writes once.
     *
     * @param args the DSN of the locks, the JDBC URL of the data, and who writes
     * @throws Exception if the lock or the database cannot be used
     */
    public static void main(String[] args) throws Exception {
        String name = args[2];
        try (LockFactory locks = LockFactory.connect(args[0]);
                Connection connection = DriverManager.getConnection(args[1])) {
            FencingGuard guard = new FencingGuard();
            guard.createTable(connection);
            try (Lock lock = locks.createLock("account", TTL).acquire()) {
                long token = lock.fencingToken().orElseThrow();
                System.out.println(name + " holds the lock, token " + token);
                awaitLine();
                write(connection, guard, name, token);
                System.out.println(name + " has written");
            } catch (LockLostException e) {
                System.out.println(name + " was refused: " + e.reason());
            }
        }
    }

    private static void write(Connection connection, FencingGuard guard, String name, long token) throws SQLException {
        connection.setAutoCommit(false);
        try (PreparedStatement update = connection.prepareStatement("UPDATE account SET owner = ?")) {
            update.setString(1, name);
            update.executeUpdate();
            guard.check(connection, "account", token);
            connection.commit();
        } catch (SQLException | RuntimeException e) {
            connection.rollback();
            throw e;
        }
    }

    private static void awaitLine() throws IOException {
        String unused = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();
    }
}
