package dev.latchkey.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.PgBouncer;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.testkit.BackgroundCall;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A pooler that gives each transaction another session of the server. */
@Timeout(120)
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
}
