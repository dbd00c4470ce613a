package dev.latchkey.jdbc;

import dev.latchkey.LockException;
import dev.latchkey.spi.Wakeup;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hears of releases while anybody waits, on one connection and one daemon thread. Both are given up a while after the last
 * waiter has gone. Whenever it begins to listen, also after a broken connection, everybody is woken once: what was
 * announced before could not be heard.
 */
final class Listener implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(JdbcStore.class);
    private static final long LINGER_NANOS = Duration.ofSeconds(10).toNanos();
    private static final long RECONNECT_NANOS = Duration.ofSeconds(1).toNanos();

    private final Database database;
    private final String channel;
    private final ReentrantLock guard = new ReentrantLock();
    private final Condition changed = guard.newCondition();
    private final Set<Watch> watches = new HashSet<>();
    private @Nullable Thread thread;
    private long lastWatchedNanos;
    private boolean closed;
    private volatile boolean listening;

    Listener(Database database, String channel) {
        this.database = database;
        this.channel = channel;
    }

    Wakeup watch(String resource) {
        Watch watch = new Watch(ResourceName.of(resource));
        guard.lock();
        try {
            if (!closed && database.announces()) {
                watches.add(watch);
                startIfNeeded();
            }
        } finally {
            guard.unlock();
        }
        return watch;
    }

    private void startIfNeeded() {
        if (thread == null) {
            thread = new Thread(this::run, "latchkey-jdbc-listener");
            thread.setDaemon(true);
            thread.start();
        }
    }

    private void run() {
        while (isWanted()) {
            try (Announcements announcements = new Announcements(database.connect(""), channel)) {
                listening = true;
                wakeAll();
                while (isWanted()) {
                    announcements.await().forEach(this::wake);
                }
            } catch (SQLException | LockException e) {
                listening = false;
                wakeAll();
                pause(e);
            }
            listening = false;
        }
    }

    /** False: this thread ends, and the next watch starts another. */
    private boolean isWanted() {
        guard.lock();
        try {
            if (!watches.isEmpty()) {
                lastWatchedNanos = System.nanoTime();
            }
            boolean wanted = !closed && System.nanoTime() - lastWatchedNanos < LINGER_NANOS;
            if (!wanted) {
                listening = false;
                thread = null;
            }
            return wanted;
        } finally {
            guard.unlock();
        }
    }

    private void pause(Exception e) {
        guard.lock();
        try {
            if (!closed) {
                log.warn("lock.not-listening problem={}", e.getMessage());
            }
            long left = RECONNECT_NANOS;
            while (left > 0 && !closed) {
                left = changed.awaitNanos(left);
            }
        } catch (InterruptedException interrupted) {
            // Nobody else knows this thread: it goes on, and ends when it is no longer wanted.
            log.debug("lock.listener-interrupted");
        } finally {
            guard.unlock();
        }
    }

    private void wake(String name) {
        List<Watch> woken;
        guard.lock();
        try {
            woken = watches.stream().filter(watch -> watch.name.equals(name)).toList();
        } finally {
            guard.unlock();
        }
        woken.forEach(Watch::wake);
    }

    private void wakeAll() {
        List<Watch> woken;
        guard.lock();
        try {
            woken = List.copyOf(watches);
        } finally {
            guard.unlock();
        }
        woken.forEach(Watch::wake);
    }

    @Override
    public void close() {
        guard.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            guard.unlock();
        }
    }

    /** One waiter's watch. */
    private final class Watch implements Wakeup {

        private final String name;
        private volatile CompletableFuture<Void> next = new CompletableFuture<>();

        private Watch(String name) {
            this.name = name;
        }

        @Override
        public CompletionStage<?> next() {
            CompletableFuture<Void> stage = new CompletableFuture<>();
            next = stage;
            return stage;
        }

        @Override
        public boolean isWatching() {
            return listening;
        }

        private void wake() {
            next.complete(null);
        }

        @Override
        public void close() {
            guard.lock();
            try {
                watches.remove(this);
            } finally {
                guard.unlock();
            }
        }
    }
}
