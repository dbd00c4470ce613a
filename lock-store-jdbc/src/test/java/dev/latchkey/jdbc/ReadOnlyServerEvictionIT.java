package dev.latchkey.jdbc;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.SQLExceptionOverride;
import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.MariaDbServer;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.spi.Response;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Connections to a server that has become the standby of another: they stay, and refuse to write. */
class ReadOnlyServerEvictionIT {

    /** Of a pool that a DSN opens: so many may be of before. */
    private static final int CONNECTIONS = 10;

    /** A setting of the role is that of new sessions: those of before stand for the primary of before. */
    @Test
    void givenAConnectionThatRefusesToWrite_whenAskedAgain_thenOnAnotherAtLast() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                Connection administrator = server.connect();
                Statement change = administrator.createStatement();
                JdbcStore store = Stores.open(server.dsn())) {
            change.execute("ALTER ROLE CURRENT_USER SET default_transaction_read_only = on");
            Key key = Key.of("moved");
            assertThatThrownBy(() -> store.save(exclusive(key)))
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("25006");
            change.execute("ALTER ROLE CURRENT_USER RESET default_transaction_read_only");

            assertThat(IntStream.rangeClosed(0, CONNECTIONS).anyMatch(tried -> isGranted(store, key)))
                    .isTrue();
        }
    }

    private static boolean isGranted(JdbcStore store, Key key) {
        try {
            return store.save(exclusive(key)) instanceof Response.Granted;
        } catch (LockStorageException e) {
            return false;
        }
    }

    @Test
    void givenMariaDbIsReadOnly_whenAUserWrites_thenItsConnectionIsDropped() throws Exception {
        try (MariaDbServer server = MariaDbServer.start();
                JdbcStore store = Stores.open(server.dsn());
                Connection administrator = connect(server.dsn());
                Statement change = administrator.createStatement()) {
            granted(store.save(exclusive(Key.of("before"))));
            change.execute("CREATE USER plain@'%' IDENTIFIED BY 'plain'");
            change.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON *.* TO plain@'%'");
            change.execute("SET GLOBAL read_only = 1");
            String url = "jdbc:mariadb://" + server.address() + "/" + administrator.getCatalog();

            try (Connection user = Objects.requireNonNull(
                            DriverManager.getConnection(url + "?user=plain&password=plain&sslMode=disable"));
                    Statement write = user.createStatement()) {
                assertThatThrownBy(() -> write.execute("UPDATE latchkey_lock SET version = version + 1"))
                        .isInstanceOfSatisfying(SQLException.class, ReadOnlyServerEvictionIT::isDropped);
            }
        }
    }

    private static void isDropped(SQLException failure) {
        assertThat(new ReadOnlyServerEviction().adjudicate(failure))
                .isEqualTo(SQLExceptionOverride.Override.MUST_EVICT);
    }

    private static Connection connect(String dsn) throws SQLException {
        Dsn parsed = Dsn.parse(dsn);
        return Objects.requireNonNull(DriverManager.getConnection(
                parsed.url(), parsed.user().orElse(""), parsed.password().orElse("")));
    }
}
