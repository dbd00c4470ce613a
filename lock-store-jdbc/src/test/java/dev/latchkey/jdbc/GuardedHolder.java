package dev.latchkey.jdbc;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;

/**
 * Holds a lock and writes in a transaction that is guarded by it, in which whoever started it may pause or kill it.
 *
 * <p>Arguments: the DSN of the locks, the JDBC URL of the same database, the resource, its TTL in seconds. Prints
 * {@code guarded}, waits for a line, commits, prints {@code committed}.
 */
final class GuardedHolder {

    private GuardedHolder() {}

    /**
     * Runs it.
     *
     * @param args as above
     * @throws Exception if anything fails
     */
    public static void main(String[] args) throws Exception {
        try (JdbcStore store = Stores.open(args[0]);
                LockFactory locks = new LockFactory(store);
                Connection connection = DriverManager.getConnection(args[1]);
                Statement statement = connection.createStatement();
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            connection.setAutoCommit(false);
            Lock lock = locks.createLock(args[2], Duration.ofSeconds(Long.parseLong(args[3])))
                    .acquire();
            statement.executeUpdate("INSERT INTO written VALUES ('" + args[2] + "')");
            store.guard(connection, lock.key());
            System.out.println("guarded");
            in.readLine();
            connection.commit();
            System.out.println("committed");
        }
    }
}
