package dev.latchkey.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.MariaDbServer;
import dev.latchkey.testkit.ServerAddress;
import dev.latchkey.testkit.TimeLimits;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What may go wrong with a MariaDB server, or on the way to it. */
class MariaDbFaultIT implements DatabaseFaults {

    /** A server whose locks can be disturbed. */
    private record OnMariaDb(MariaDbServer server) implements FaultyDatabase {

        @Override
        public String dsn(ServerAddress address) {
            return "mariadb://root@" + address + "/test?sslMode=disable";
        }

        @Override
        public Connection connect() throws SQLException {
            return DriverManager.getConnection(Dsn.parse(dsn()).url() + "&user=root");
        }

        @Override
        public int endSessions() throws SQLException {
            try (Connection connection = connect();
                    Statement statement = connection.createStatement()) {
                List<Long> sessions = new ArrayList<>();
                try (ResultSet rows = statement.executeQuery(
                        "SELECT id FROM information_schema.processlist WHERE user = 'root' AND id <> CONNECTION_ID()")) {
                    while (rows.next()) {
                        sessions.add(rows.getLong(1));
                    }
                }
                for (long session : sessions) {
                    end(statement, session);
                }
                return sessions.size();
            }
        }

        private static void end(Statement statement, long session) throws SQLException {
            try {
                statement.execute("KILL " + session);
            } catch (SQLException e) {
                // It has ended by itself meanwhile.
                assertThat(e.getMessage()).contains("Unknown thread");
            }
        }

        @Override
        public void failNextUpdates(int count) throws SQLException {
            execute(
                    "CREATE SEQUENCE updates NOCACHE",
                    "CREATE TRIGGER fail BEFORE UPDATE ON latchkey_lock FOR EACH ROW BEGIN IF NEXTVAL(updates) <= "
                            + count
                            + " THEN SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'planted'; END IF; END");
        }

        @Override
        public long updates() throws SQLException {
            return count("SELECT next_not_cached_value - 1 FROM updates");
        }

        /** The victim is the one that has changed less. */
        @Override
        public void spareInDeadlocks(Statement transaction) throws SQLException {
            transaction.execute("INSERT INTO weight SELECT seq FROM seq_1_to_500");
        }

        @Override
        public String impatientDsn() {
            return dsn() + "&socketTimeout="
                    + TimeLimits.ttl(Duration.ofSeconds(4)).toMillis();
        }

        @Override
        public long running(String beginning) throws SQLException {
            return count("SELECT count(*) FROM information_schema.processlist WHERE info LIKE '" + beginning + "%'");
        }
    }

    @Override
    public FaultyDatabase start() {
        return new OnMariaDb(MariaDbServer.start());
    }

    @Test
    void givenWaiting_whenItsSessionsAreEndedAgainAndAgain_thenItWaitsOnAndGetsIt() throws Exception {
        try (FaultyDatabase database = start();
                JdbcStore holding = Stores.open(database.dsn());
                LockFactory locks = new LockFactory(holding);
                JdbcStore waitingStore = Stores.open(database.dsn());
                LockFactory others = new LockFactory(waitingStore)) {
            Lock holder = locks.createLock("waited", LONG).acquire();
            long before = asked(database);
            Task<Lock> waiting =
                    Task.start(() -> others.createLock("waited", LONG).acquire());
            // Whoever cannot even connect at first does not wait, but fails.
            Awaitility.await().atMost(LIMIT).until(() -> asked(database) > before);

            for (int i = 0; i < 5; i++) {
                long asked = asked(database);
                database.endSessions();
                Awaitility.await().atMost(LIMIT).until(() -> waiting.isDone() || asked(database) > asked + 1);
            }

            assertThat(waiting.isDone()).isFalse();
            assertThat(holder.release()).isTrue();
            assertThat(waiting.result().isAcquired()).isTrue();
        }
    }

    private static long asked(FaultyDatabase database) throws SQLException {
        return database.count("SELECT variable_value FROM information_schema.global_status"
                + " WHERE variable_name = 'COM_INSERT_SELECT'");
    }
}
