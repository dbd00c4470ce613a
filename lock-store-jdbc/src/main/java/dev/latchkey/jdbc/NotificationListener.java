package dev.latchkey.jdbc;

import dev.latchkey.spi.KeptHolds;
import dev.latchkey.spi.ReleaseSubscriptions;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hears of releases and recalls on one connection, which it gives back as soon as calls wait for one: those who hold come first,
 * and who waits can ask. Whenever it begins to listen, and when it leaves off, it recalls all that is kept: messages may have been
 * missed, or will not come.
 */
final class NotificationListener implements ReleaseSubscriptions.Source {

    private static final Logger log = LoggerFactory.getLogger(JdbcStore.class);

    private static final long LOOK_NANOS = Duration.ofMillis(250).toNanos();

    private static final Duration LONGEST_END = Duration.ofSeconds(2);

    private static final CountDownLatch NOBODY_LISTENS = new CountDownLatch(0);

    private static final String NO_CONNECTION = "the pool had no connection to spare";

    private final Connections connections;
    private final String channel;
    private final KeptHolds kept;
    private final ForcedEnds forced;
    private final ListenerPause pause = new ListenerPause();
    private volatile CountDownLatch end = NOBODY_LISTENS;
    private volatile boolean isBehindAPooler;
    private final AtomicReference<@Nullable CountDownLatch> hearing = new AtomicReference<>();
    private volatile String problem = "not yet";

    NotificationListener(Database database, String channel, KeptHolds kept) {
        this.connections = database.connections();
        this.channel = channel;
        this.kept = kept;
        this.forced = new ForcedEnds(database, kept);
    }

    @Override
    public Optional<String> listen(ReleaseSubscriptions wakeups) {
        if (isResting()) {
            LockSupport.parkNanos(LOOK_NANOS);
            return Optional.empty();
        }
        CountDownLatch mine = new CountDownLatch(1);
        end = mine;
        try (PostgresNotifications announcements = new PostgresNotifications(connections.get(), channel)) {
            long since = System.nanoTime();
            begin(mine, announcements);
            wakeups.listening();
            forced.read(announcements.connection());
            Optional<String> shortage = restIfShort(since);
            while (shortage.isEmpty() && wakeups.isWanted()) {
                announcements.await().forEach(message -> hear(message, wakeups));
                forced.read(announcements.connection());
                shortage = restIfShort(since);
            }
            return ended(mine, shortage);
        } catch (NoConnectionException e) {
            // Nothing could be given back either: it is recalled when there is a connection again.
            return failed(e);
        } catch (SQLException e) {
            // One that has listened does so again in a moment, and then recalls: the server may be on its way down.
            return hearing.get() == mine ? failed(e) : failedToBegin(e);
        } finally {
            hearing.compareAndSet(mine, null);
            mine.countDown();
        }
    }

    private Optional<String> ended(CountDownLatch mine, Optional<String> shortage) {
        hearing.compareAndSet(mine, null);
        kept.recallAll();
        return shortage;
    }

    private Optional<String> failedToBegin(Exception e) {
        kept.recallAll();
        return failed(e);
    }

    private Optional<String> failed(Exception e) {
        problem = String.valueOf(e.getMessage());
        return Optional.of(problem);
    }

    private void begin(CountDownLatch mine, PostgresNotifications announcements) {
        kept.recallAll();
        isBehindAPooler = !announcements.isOfOwnSession();
        if (!isBehindAPooler) {
            hearing.set(mine);
        } else {
            problem = "a pooler between this process and the server hides the session";
        }
    }

    private void hear(String message, ReleaseSubscriptions wakeups) {
        Optional<StickyStatements.ForcedEnd> end = StickyStatements.forcedEnd(message);
        if (end.isPresent()) {
            forced.add(end.get());
        } else if (!StickyStatements.hear(message, kept)) {
            wakeups.wake(message);
        }
    }

    /** Whether all messages arrive. Behind a pooler they may not: who waits may be told all the same, but asks. */
    boolean hearsAll() {
        return hearing.get() != null;
    }

    /** Whether it may hear them in a moment, if it is asked to listen. */
    boolean mayHearSoon() {
        return !isBehindAPooler && !isResting();
    }

    /** Why it does not hear them. */
    String problem() {
        return problem;
    }

    /** Whether it leaves its connection to others for a while. */
    private boolean isResting() {
        return !pause.isOver(System.nanoTime());
    }

    /**
     * If calls wait for a connection, it leaves its own to others for a while. Returns what makes those who wait poll: they sleep
     * as long as they are told.
     */
    private Optional<String> restIfShort(long sinceNanos) {
        if (!connections.areShort()) {
            return Optional.empty();
        }
        long now = System.nanoTime();
        Duration rest = pause.begin(now - sinceNanos, now);
        problem = NO_CONNECTION;
        return Optional.of(NO_CONNECTION + ": who waits asks again by itself for " + rest.toSeconds()
                + " s. To be told of releases, it needs one more");
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
