package dev.latchkey.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockConflictedException;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.testkit.TimeLimits;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Locks that live and die with a transaction of the caller. */
class TransactionLocksIT {

    private final String resource = "transaction-" + UUID.randomUUID();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private PostgresAdvisoryStore store;
    private LockFactory locks;
    private Connection connection;
    private Connection other;

    @BeforeEach
    void open() throws SQLException {
        store = Stores.open(PostgresServer.sharedDsn());
        locks = new LockFactory(store);
        connection = connect();
        other = connect();
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
        other.close();
        locks.close();
        store.close();
        threads.shutdownNow();
    }

    @Test
    void givenLockedInATransaction_whenTheStoreTries_thenRefusedUntilItCommits() throws Exception {
        Lock lock = locks.createLock(resource);
        store.transactionLock(connection, resource);
        store.transactionLock(connection, resource);
        assertThat(lock.tryAcquire()).isFalse();
        assertThat(store.holders(resource)).hasSize(1);

        connection.commit();

        assertThat(lock.tryAcquire()).isTrue();
    }

    @Test
    void givenLockedInATransaction_whenItRollsBack_thenFree() throws Exception {
        store.transactionLock(connection, resource);

        connection.rollback();

        assertThat(store.tryTransactionLock(other, resource)).isTrue();
    }

    @Test
    void givenTheStoreHolds_whenATransactionTries_thenFalseAndItCanGoOn() throws Exception {
        assertThat(locks.createLock(resource).tryAcquire()).isTrue();

        assertThat(store.tryTransactionLock(connection, resource)).isFalse();
        assertThat(store.tryTransactionLockShared(connection, resource)).isFalse();

        assertThat(Raw.ask(connection, "SELECT 7")).isEqualTo("7");
    }

    @Test
    void givenTheStoreHolds_whenATransactionWaits_thenItGetsItOnceReleased() throws Exception {
        Lock lock = locks.createLock(resource);
        assertThat(lock.tryAcquire()).isTrue();
        Future<?> waiting = threads.submit(() -> store.transactionLock(connection, resource));

        assertThat(lock.release()).isTrue();

        waiting.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS);
        assertThat(locks.createLock(resource).tryAcquire()).isFalse();
    }

    @Test
    void givenSharedInATransaction_whenOthersCome_thenTheyMayShareOnly() {
        store.transactionLockShared(connection, resource);

        assertThat(store.tryTransactionLockShared(other, resource)).isTrue();
        assertThat(locks.createLock(resource).tryAcquireShared()).isTrue();
        assertThat(locks.createLock(resource).tryAcquire()).isFalse();
    }

    @Test
    void givenALockTimeout_whenItIsOver_thenAConflict() throws Exception {
        assertThat(locks.createLock(resource).tryAcquire()).isTrue();
        Raw.run(connection, "SET LOCAL lock_timeout = '50ms'");

        assertThatThrownBy(() -> store.transactionLock(connection, resource))
                .isInstanceOf(LockConflictedException.class)
                .hasMessageContaining(resource);
    }

    @Test
    void givenAutocommit_whenLocked_thenRefused() throws Exception {
        connection.setAutoCommit(true);

        assertThatThrownBy(() -> store.transactionLock(connection, resource))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("setAutoCommit");
        assertThatThrownBy(() -> store.tryTransactionLock(connection, resource))
                .isInstanceOf(IllegalStateException.class);
    }

    private static Connection connect() throws SQLException {
        Connection opened =
                Objects.requireNonNull(DriverManager.getConnection(PostgresServer.jdbcUrl(PostgresServer.sharedDsn())));
        opened.setAutoCommit(false);
        return opened;
    }
}
