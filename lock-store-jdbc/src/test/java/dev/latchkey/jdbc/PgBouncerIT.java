package dev.latchkey.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Capability;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.PgBouncer;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A pooler that gives each transaction another session of the server. */
class PgBouncerIT {

    private static final int THREADS = 4;
    private static final int HOLDS = 40;

    /** Without the option the driver prepares a statement on one session, and executes it on another, which fails. */
    @Test
    void givenTransactionPooling_whenStatementsAreNotPreparedOnTheServer_thenTheLockExcludes(@TempDir Path directory)
            throws Exception {
        try (PostgresServer server = PostgresServer.start();
                PgBouncer pooler = PgBouncer.start(server.address(), directory);
                JdbcStore store = Stores.open(pooler.jdbcUrl() + "&prepareThreshold=0");
                LockFactory locks = new LockFactory(store)) {
            AtomicInteger holders = new AtomicInteger();
            List<BackgroundCall<Integer>> calls = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                calls.add(BackgroundCall.start(() -> {
                    int others = 0;
                    for (int hold = 0; hold < HOLDS; hold++) {
                        try (Lock lock = locks.createLock("pooled").acquire()) {
                            others += holders.getAndIncrement();
                            lock.refresh();
                            holders.decrementAndGet();
                        }
                    }
                    return others;
                }));
            }

            for (BackgroundCall<Integer> call : calls) {
                assertThat(call.result()).isZero();
            }
        }
    }

    /** What a session of the server is notified of goes to nobody, or to whoever has it at that moment. */
    @Test
    void givenTransactionPooling_whenAStickyLockIsReleased_thenItIsNotKept(@TempDir Path directory) throws Exception {
        try (PostgresServer server = PostgresServer.start();
                PgBouncer pooler = PgBouncer.start(server.address(), directory);
                JdbcStore store = Stores.open(pooler.jdbcUrl() + "&prepareThreshold=0");
                LockFactory locks = new LockFactory(store);
                JdbcStore direct = Stores.open(server.dsn());
                LockFactory rivals = new LockFactory(direct)) {
            assertThat(locks.supports(Capability.STICKY)).isTrue();
            Lock lock = locks.lock("pooled").sticky(Duration.ofMinutes(1)).create();
            for (int hold = 0; hold < HOLDS; hold++) {
                lock.acquire();
                lock.release();
            }

            Awaitility.await()
                    .atMost(TimeLimits.LIMIT)
                    .until(() -> rivals.holders("pooled").isEmpty());
        }
    }

    /** What one sets for a session stays with the server's, which is somebody else's in the next transaction. */
    @Test
    void givenSerializableByDefault_whenLocked_thenTheTransactionsOfOthersStaySerializable(@TempDir Path directory)
            throws Exception {
        try (PostgresServer server = PostgresServer.start()) {
            // Before the pooler has opened sessions, which keep what was the default then.
            try (Connection admin = server.connect();
                    Statement statement = admin.createStatement()) {
                statement.execute("ALTER DATABASE postgres SET default_transaction_isolation = 'serializable'");
            }
            try (PgBouncer pooler = PgBouncer.start(server.address(), directory);
                    JdbcStore store = Stores.open(pooler.jdbcUrl() + "&prepareThreshold=0");
                    LockFactory locks = new LockFactory(store)) {
                List<BackgroundCall<Integer>> calls = new ArrayList<>();
                for (int i = 0; i < THREADS; i++) {
                    calls.add(BackgroundCall.start(() -> {
                        for (int hold = 0; hold < HOLDS; hold++) {
                            locks.createLock("pooled").acquire().release();
                        }
                        return HOLDS;
                    }));
                }
                for (BackgroundCall<Integer> call : calls) {
                    assertThat(call.result()).isEqualTo(HOLDS);
                }
                assertThat(isolations(pooler)).containsOnly("serializable");
            }
        }
    }

    /** Of as many sessions of the server as the store can have used, each in a transaction, so that all differ. */
    private static List<String> isolations(PgBouncer pooler) throws SQLException {
        List<String> isolations = new ArrayList<>();
        List<Connection> all = new ArrayList<>();
        try {
            for (int i = 0; i < 2 * THREADS; i++) {
                Connection one = pooler.connect();
                all.add(one);
                one.setAutoCommit(false);
                try (Statement statement = one.createStatement();
                        ResultSet row = statement.executeQuery("SHOW transaction_isolation")) {
                    assertThat(row.next()).isTrue();
                    isolations.add(row.getString(1));
                }
            }
        } finally {
            for (Connection one : all) {
                one.close();
            }
        }
        return isolations;
    }
}
