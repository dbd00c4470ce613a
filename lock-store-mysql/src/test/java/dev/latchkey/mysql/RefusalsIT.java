package dev.latchkey.mysql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.LockStorageException.Failure;
import dev.latchkey.servers.MariaDbServer;
import dev.latchkey.testkit.ServerAddress;
import dev.latchkey.testkit.TimeLimits;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mariadb.jdbc.MariaDbPoolDataSource;

/** Servers on which a lock would be none, connections that are shared with others, and users who may not connect. */
class RefusalsIT {

    private static MariaDbServer server;

    @BeforeAll
    static void start() throws Exception {
        server = MariaDbServer.start();
        Raw.run(server, "CREATE USER known IDENTIFIED BY 'right'");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void givenAReadOnlyServer_whenAcquired_thenRefusedUntilItIsAPrimary() throws Exception {
        try (MariaDbServer replica = MariaDbServer.start("--read-only");
                MySqlLockStore store = Stores.open(replica);
                LockFactory locks = new LockFactory(store)) {
            assertThatThrownBy(() -> locks.createLock("report").tryAcquire())
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("read-only");

            Raw.run(replica, "SET GLOBAL read_only = OFF");

            assertThat(locks.createLock("report").tryAcquire()).isTrue();
        }
    }

    @Test
    void givenANodeOfAGaleraCluster_whenAcquired_thenRefused() {
        try (MariaDbServer node = MariaDbServer.start(
                        "--wsrep-on=ON",
                        "--wsrep-provider=/usr/lib/galera/libgalera_smm.so",
                        "--wsrep-cluster-address=gcomm://",
                        "--wsrep-provider-options=gmcast.listen_addr=tcp://" + ServerAddress.unused(),
                        "--binlog-format=ROW",
                        "--innodb-autoinc-lock-mode=2");
                MySqlLockStore store = Stores.open(node);
                LockFactory locks = new LockFactory(store)) {
            assertThatThrownBy(() -> locks.createLock("report").tryAcquire())
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("Galera");
        }
    }

    @Test
    void givenAPoolOfTheDriver_whenAcquired_thenRefused() throws Exception {
        try (MariaDbPoolDataSource pool = new MariaDbPoolDataSource(Raw.jdbcUrl(server))) {
            assertRefused(pool);
        }
    }

    /** Else what one waits for would end what the other holds. */
    @Test
    void givenASourceThatGivesTheSameConnectionAgain_whenOneWaits_thenRefusedAndTheOtherHoldsStill() throws Exception {
        try (Connection only = Raw.connect(server);
                MySqlLockStore store = new MySqlLockStore(new Sources(() -> only));
                LockFactory locks = new LockFactory(store);
                MySqlLockStore others = Stores.open(server);
                LockFactory rivals = new LockFactory(others)) {
            Lock holder = locks.createLock("held");
            assertThat(holder.tryAcquire()).isTrue();
            assertThat(rivals.createLock("busy").tryAcquire()).isTrue();

            assertThatThrownBy(() -> locks.createLock("busy").acquire(TimeLimits.LIMIT))
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("the same connection");

            assertThat(holder.isAcquired()).isTrue();
            assertThat(rivals.createLock("held").tryAcquire()).isFalse();
        }
    }

    /** As pools do, whose connections go back to them when they are closed. */
    @Test
    void givenASourceThatWrapsItsConnections_whenAcquired_thenRefusedAndTheConnectionIsAsItWas() throws Exception {
        try (Connection lent = Raw.connect(server)) {
            Connection wrapped = (Connection) Proxy.newProxyInstance(
                    Connection.class.getClassLoader(),
                    new Class<?>[] {Connection.class},
                    (proxy, method, arguments) ->
                            method.getName().equals("close") ? null : method.invoke(lent, arguments));

            assertRefused(new Sources(() -> wrapped));

            assertThat(Raw.rows(lent, "SELECT @@session.wait_timeout")).containsExactly("28800");
            assertThat(lent.getNetworkTimeout()).isZero();
        }
    }

    private static void assertRefused(DataSource source) {
        try (MySqlLockStore store = new MySqlLockStore(source);
                LockFactory locks = new LockFactory(store)) {
            assertThatThrownBy(() -> locks.createLock("report").tryAcquire())
                    .isInstanceOfSatisfying(
                            LockStorageException.class,
                            refused -> assertThat(refused.failure()).isEqualTo(Failure.NOT_SENT))
                    .hasMessageContaining("pool")
                    .hasMessageContaining("MariaDbDataSource");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"known:wrong@{}/", "root@{}/missing", "nobody-such@{}/"})
    void givenWrongCredentialsOrNoSuchDatabase_whenAcquired_thenDeniedInTheServersWords(String dsn) {
        try (MySqlLockStore store = Stores.open(
                        "mariadb://" + dsn.replace("{}", server.address().toString()) + "?sslMode=disable");
                LockFactory locks = new LockFactory(store)) {
            assertThatThrownBy(() -> locks.createLock("report").tryAcquire())
                    .isInstanceOfSatisfying(
                            LockStorageException.class,
                            denied -> assertThat(denied.failure()).isEqualTo(Failure.DENIED))
                    .hasMessageNotContaining("wrong");
        }
    }

    @Test
    void givenNobodyListens_whenAcquired_thenNothingWasSent() {
        assertNotSent((MySqlLockStore) new MySqlLockStore.Provider().open(Stores.dsn(ServerAddress.unused())));
    }

    @Test
    void givenASourceThatThrows_whenAcquired_thenNothingWasSent() {
        assertNotSent(new MySqlLockStore(new Sources(() -> {
            throw new IllegalStateException("not today");
        })));
    }

    @Test
    void givenAllConnectionsAreInUse_whenAcquired_thenNothingWasSent() throws SQLException {
        try (MariaDbServer small = MariaDbServer.start("--max-connections=10")) {
            Raw.run(small, "CREATE USER hungry WITH MAX_USER_CONNECTIONS 1");
            try (Connection only = DriverManager.getConnection(
                    Raw.jdbcUrl(small).replace("root", "hungry").replace("/test", "/"))) {
                assertThat(only.isValid(5)).isTrue();

                assertNotSent(
                        Stores.open(small.dsn().replace("root@", "hungry@").replace("/test", "/")));
            }
        }
    }

    private static void assertNotSent(MySqlLockStore opened) {
        try (opened;
                LockFactory locks = new LockFactory(opened)) {
            assertThatThrownBy(() -> locks.createLock("report").tryAcquire())
                    .isInstanceOfSatisfying(
                            LockStorageException.class,
                            refused -> assertThat(refused.failure()).isEqualTo(Failure.NOT_SENT));
        }
    }
}
