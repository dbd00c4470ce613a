package dev.latchkey.jdbc;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.LockStorageException.Failure;
import dev.latchkey.jdbc.Database.Repeat;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The holds under sticky locks whose release has failed. Nobody knows of them any more, and others would wait for their whole
 * leases, so they are released once more. Each has a key of its own: what is released late is no hold of others. Thread-safe.
 */
final class FailedReleases {

    private static final Logger log = LoggerFactory.getLogger(JdbcStore.class);

    private final Database database;
    private final Pruning pruning;
    private final Queue<Key> keys = new ConcurrentLinkedQueue<>();
    private volatile @Nullable Thread last;

    FailedReleases(Database database, Pruning pruning) {
        this.database = database;
        this.pruning = pruning;
    }

    void add(Key key) {
        keys.add(key);
    }

    /** Releases them one after the other, on a thread that may wait for a connection or for a row. */
    void tryAgain() {
        Thread before = last;
        if (!keys.isEmpty() && (before == null || !before.isAlive())) {
            Thread thread = new Thread(this::releaseAll, "latchkey-jdbc-releases");
            thread.setDaemon(true);
            thread.start();
            last = thread;
        }
    }

    private void releaseAll() {
        Key key = keys.poll();
        while (key != null && isOver(key)) {
            key = keys.poll();
        }
    }

    /** Whether there is nothing more to do: it is released, or the server has failed as well. */
    private boolean isOver(Key key) {
        try {
            boolean wasHeld = database.call(key.resource(), Repeat.HARMLESS, new StickyRelease(key, pruning));
            log.debug("lock.released_again wasHeld={}", wasHeld);
            return true;
        } catch (LockStorageException e) {
            boolean isUnsent = e.failure() == Failure.NOT_SENT;
            if (isUnsent) {
                keys.add(key);
            } else {
                log.warn("lock.release_failed_again consequence=others wait for the end of its lease", e);
            }
            return !isUnsent;
        }
    }
}
