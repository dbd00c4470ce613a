package dev.latchkey.jdbc;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells, once per store, that a hold was taken later than it is now: SQLite, and an embedded H2 or HSQLDB, read the clock of
 * the process they run in, and a server's may have been set back.
 */
final class ClockCheck {

    private static final Logger log = LoggerFactory.getLogger(JdbcStore.class);

    /** More than clocks differ that are kept by NTP. */
    private static final long TOLERANCE_MICROS = Duration.ofSeconds(2).toNanos() / 1_000;

    private final AtomicBoolean told = new AtomicBoolean();

    void look(String resource, Row row) {
        long ahead = row.writer().map(Row.Writer::acquiredAt).orElse(0L) - row.now();
        if (ahead > TOLERANCE_MICROS && told.compareAndSet(false, true)) {
            log.warn(
                    "lock.clocks_differ resource={} aheadMillis={} problem=a hold was taken later than it is now: the"
                            + " database's clock was set back, or (SQLite, embedded H2 and HSQLDB) the clocks of the"
                            + " processes that use it differ. Two can hold at once then",
                    resource,
                    ahead / 1_000);
        }
    }
}
