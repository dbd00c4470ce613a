package dev.latchkey.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes rows that nobody holds and whose last fencing token, and end of a lease that was not released, are older than the
 * retention, after some release: once in a retention per store, and once among its first releases, so that short-lived
 * processes, which leave a row each, delete more than they leave.
 */
final class Pruning {

    private static final Logger log = LoggerFactory.getLogger(JdbcStore.class);

    /** How many rows one release deletes beside what it is called for. */
    private static final int BATCH = 50;

    /** Among how many releases the first one that deletes is chosen; well below {@link #BATCH}. */
    private static final int FIRST_AMONG = 20;

    private final Duration retention;
    private final AtomicLong dueNanos;
    private final AtomicInteger releasesToFirst =
            new AtomicInteger(ThreadLocalRandom.current().nextInt(FIRST_AMONG));

    Pruning(Duration retention) {
        this.retention = retention;
        long first = ThreadLocalRandom.current().nextLong(retention.toNanos());
        this.dueNanos = new AtomicLong(System.nanoTime() + first);
    }

    void ifDue(Connection connection, Statements statements) {
        long due = dueNanos.get();
        long now = System.nanoTime();
        boolean isTime = now - due >= 0 && dueNanos.compareAndSet(due, now + retention.toNanos());
        if (isFirst() || isTime) {
            prune(connection, statements);
        }
    }

    private boolean isFirst() {
        return releasesToFirst.get() >= 0 && releasesToFirst.getAndDecrement() == 0;
    }

    /** A failure here is no failure of the release that came before. */
    private void prune(Connection connection, Statements statements) {
        try {
            long clock = statements.read(connection, Row.NOBODY).now();
            int rows = statements.prune(connection, clock - retention.toNanos() / 1_000, BATCH);
            log.debug("lock.rows_pruned rows={}", rows);
            if (rows == BATCH) {
                // There may be more, for the release after this one.
                dueNanos.set(System.nanoTime());
            }
        } catch (SQLException e) {
            log.warn("lock.pruning_failed sqlState={} problem={}", e.getSQLState(), e.getMessage());
        }
    }
}
