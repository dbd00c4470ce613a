package dev.latchkey.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.zaxxer.hikari.HikariDataSource;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.LockStorageException.Failure;
import dev.latchkey.servers.MariaDbServer;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.testkit.ServerAddress;
import dev.latchkey.testkit.TimeLimits;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** C25, C12, C21, B25: what the server said, at once, and whether trying again helps. */
class ServerWordsIT {

    /** A pool's time limit is 5 s, and of old there were two. */
    private static final Duration AT_ONCE = TimeLimits.scaled(Duration.ofSeconds(4));

    private static LockStorageException failure(String dsn) {
        return failure(Stores.open(dsn));
    }

    private static LockStorageException failure(JdbcStore store) {
        try (LockFactory locks = new LockFactory(store)) {
            Lock lock = locks.createLock("words");
            return catchThrowableOfType(LockStorageException.class, lock::tryAcquire);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "postgresql,postgres,nosuch,'database \"nosuch\" does not exist'",
        "postgresql,stranger,postgres,'role \"stranger\" does not exist'",
        "mariadb,root:wrong-secret,test,Access denied",
        "mariadb,root,nosuch,Unknown database",
        "mysql,root:wrong-secret,test,Access denied",
        "mysql,root,nosuch,Unknown database"
    })
    void givenWrongCredentialsOrDatabase_whenAcquired_thenDeniedAtOnceInTheServersWords(
            String scheme, String user, String database, String words) {
        ServerAddress address = address(scheme);
        String options =
                scheme.equals("postgresql") ? "" : "?sslMode=" + (scheme.equals("mysql") ? "DISABLED" : "disable");
        JdbcStore warm = Stores.open("jdbc:h2:mem:warm-" + scheme);
        warm.createTable();
        warm.close();
        long start = System.nanoTime();

        LockStorageException failure = failure(scheme + "://" + user + "@" + address + "/" + database + options);

        assertThat(failure).hasMessageContaining(words);
        assertThat(failure.getMessage()).doesNotContain("pool", "wrong-secret");
        assertThat(failure.failure()).isEqualTo(Failure.DENIED);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(AT_ONCE);
    }

    @ParameterizedTest
    @CsvSource({"postgresql", "mariadb", "mysql"})
    void givenNothingListens_whenAcquired_thenNotSentAtOnce(String scheme) {
        long start = System.nanoTime();

        LockStorageException failure = failure(scheme + "://me:secret@" + ServerAddress.unused() + "/locks");

        assertThat(failure.getMessage()).doesNotContain("exhausted", "secret");
        assertThat(failure.failure()).isEqualTo(Failure.NOT_SENT);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(AT_ONCE);
    }

    @Test
    void givenNoRightToTheTable_whenAcquired_thenDenied() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                JdbcStore owner = Stores.open(server.dsn());
                Connection admin = server.connect();
                Statement statement = admin.createStatement()) {
            owner.createTable();
            statement.execute("CREATE ROLE guest LOGIN");

            LockStorageException failure = failure(server.dsn().replace("postgres@", "guest@"));

            assertThat(failure).hasMessageContaining("permission denied for table latchkey_lock");
            assertThat(failure.failure()).isEqualTo(Failure.DENIED);
        }
    }

    /** B25: nothing was sent, so there is nothing to give back. */
    @Test
    void givenAnExhaustedPool_whenAcquired_thenNotSentAndAHintAtThePool() throws Exception {
        try (HikariDataSource pool = new HikariDataSource()) {
            // With a URL, the pool would make a limit of its time that goes for whoever connects in this JVM.
            pool.setDataSourceClassName("org.h2.jdbcx.JdbcDataSource");
            pool.addDataSourceProperty("url", "jdbc:h2:mem:exhausted");
            pool.setMaximumPoolSize(1);
            pool.setConnectionTimeout(500);
            JdbcStore store = new JdbcStore(pool);
            store.createTable();
            try (Connection only = pool.getConnection()) {
                LockStorageException failure = failure(store);

                assertThat(only.isClosed()).isFalse();
                assertThat(failure).hasMessageContaining("pool of its own");
                assertThat(failure.failure()).isEqualTo(Failure.NOT_SENT);
            }
        }
    }

    /** C12: MariaDB's driver wants TLS unless it is told otherwise. */
    @Test
    void givenAServerWithoutTls_whenAskedByAPlainMariaDbDsn_thenTheMessageSaysWhatHelps() {
        try (MariaDbServer server = MariaDbServer.start()) {
            LockStorageException failure = failure("mariadb://root@" + server.address() + "/test");

            assertThat(failure).hasMessageContaining("sslMode=disable");
        }
    }

    /** C21: a bare SQLSTATE. */
    @ParameterizedTest
    @CsvSource({"postgresql", "mariadb", "jdbc:h2:mem:missing", "jdbc:hsqldb:mem:missing", "jdbc:sqlite::memory:"})
    void givenAnExistingTableThatDoesNotExist_whenAcquired_thenTheMessageSaysWhatHelps(String database) {
        String dsn = database.equals("postgresql")
                ? PostgresServer.sharedDsn()
                : database.equals("mariadb") ? MariaDbServer.sharedDsn() : database;
        JdbcStore store =
                Pools.open(Dsn.parse(dsn), builder -> builder.table("not_there").existingTable());

        LockStorageException failure = failure(store);

        assertThat(failure)
                .hasMessageContaining("the table not_there is missing")
                .hasMessageContaining(".sql");
    }

    private static ServerAddress address(String scheme) {
        String dsn = scheme.equals("postgresql") ? PostgresServer.sharedDsn() : MariaDbServer.sharedDsn();
        String[] hostAndPort =
                dsn.replaceFirst(".*@", "").replaceFirst("/.*", "").split(":", 2);
        return new ServerAddress(hostAndPort[0], Integer.parseInt(hostAndPort[1]));
    }
}
