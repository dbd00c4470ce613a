package dev.latchkey.jdbc;

import dev.latchkey.spi.ReleaseSubscriptions;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hears of releases on one connection, which it gives back as soon as calls wait for one: those who hold come first, and
 * who waits can ask.
 */
final class NotificationListener implements ReleaseSubscriptions.Source {

    private static final Logger log = LoggerFactory.getLogger(JdbcStore.class);

    /** How long it does not listen after the pool had no connection to spare. */
    private static final long REST_NANOS = Duration.ofSeconds(30).toNanos();

    private static final long LOOK_NANOS = Duration.ofMillis(500).toNanos();

    private static final Duration LONGEST_END = Duration.ofSeconds(2);

    private static final CountDownLatch NOBODY_LISTENS = new CountDownLatch(0);

    private final Connections connections;
    private final String channel;
    private volatile CountDownLatch end = NOBODY_LISTENS;
    private volatile boolean rests;
    private volatile long restUntilNanos;

    NotificationListener(Connections connections, String channel) {
        this.connections = connections;
        this.channel = channel;
    }

    @Override
    public Optional<String> listen(ReleaseSubscriptions wakeups) {
        if (rests && System.nanoTime() - restUntilNanos < 0) {
            LockSupport.parkNanos(LOOK_NANOS);
            return Optional.empty();
        }
        CountDownLatch mine = new CountDownLatch(1);
        end = mine;
        try (PostgresNotifications announcements = new PostgresNotifications(connections.get(), channel)) {
            wakeups.listening();
            while (wakeups.isWanted()) {
                announcements.await().forEach(wakeups::wake);
                if (connections.areShort()) {
                    rest();
                    return Optional.empty();
                }
            }
            return Optional.empty();
        } catch (SQLException | NoConnectionException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        } finally {
            mine.countDown();
        }
    }

    private void rest() {
        restUntilNanos = System.nanoTime() + REST_NANOS;
        rests = true;
        log.info(
                "lock.listener_yielded problem=the pool had no connection to spare: who waits asks again by itself for"
                        + " {} s. To be told of releases, it needs one more",
                Duration.ofNanos(REST_NANOS).toSeconds());
    }

    /** Waits until its connection is back, so that a pool can be closed in order. */
    void awaitEnd() {
        try {
            boolean ended = end.await(LONGEST_END.toNanos(), TimeUnit.NANOSECONDS);
            log.debug("lock.listener_ended inTime={}", ended);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
