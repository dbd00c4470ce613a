package dev.latchkey.mongodb;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.client.MongoCursor;
import dev.latchkey.spi.Wakeup;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hears of releases while anybody waits, by one change stream and one daemon thread. Both are given up a while after the
 * last waiter has gone. Whenever it begins to listen, everybody is woken once: what changed before could not be heard. A
 * deployment that refuses the stream is not asked again.
 */
final class Listener implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(MongoDbStore.class);
    private static final Duration AWAIT = Duration.ofSeconds(1);
    private static final long LINGER_NANOS = Duration.ofSeconds(10).toNanos();
    private static final long REOPEN_NANOS = Duration.ofSeconds(1).toNanos();

    /** A server that is no member of a replica set has no change streams. */
    private static final int ONLY_ON_REPLICA_SETS = 40573;

    private static final int UNAUTHORIZED = 13;

    private final Documents documents;
    private final ReentrantLock guard = new ReentrantLock();
    private final Condition changed = guard.newCondition();
    private final Set<Watch> watches = new HashSet<>();
    private @Nullable Thread thread;
    private long lastWatchedNanos;
    private boolean ended;
    private volatile boolean listening;

    Listener(Documents documents) {
        this.documents = documents;
    }

    Wakeup watch(String resource) {
        Watch watch = new Watch(ResourceName.of(resource));
        guard.lock();
        try {
            if (!ended) {
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
            thread = new Thread(this::run, "latchkey-mongodb-listener");
            thread.setDaemon(true);
            thread.start();
        }
    }

    private void run() {
        while (isWanted()) {
            try (MongoCursor<BsonDocument> releases = documents.releases(AWAIT)) {
                listening = true;
                wake(watch -> true);
                hear(releases);
            } catch (MongoCommandException e) {
                listening = false;
                wake(watch -> true);
                refused(e);
            } catch (MongoException | IllegalStateException e) {
                listening = false;
                wake(watch -> true);
                pause(e);
            }
        }
    }

    private void hear(MongoCursor<BsonDocument> releases) {
        while (isWanted() && releases.getServerCursor() != null) {
            BsonDocument change = releases.tryNext();
            if (change != null) {
                String name = Releases.name(change);
                wake(watch -> watch.name.equals(name));
            }
        }
        listening = false;
    }

    /** False: this thread ends, and the next watch starts another. */
    private boolean isWanted() {
        guard.lock();
        try {
            if (!watches.isEmpty()) {
                lastWatchedNanos = System.nanoTime();
            }
            boolean wanted = !ended && System.nanoTime() - lastWatchedNanos < LINGER_NANOS;
            if (!wanted) {
                listening = false;
                thread = null;
            }
            return wanted;
        } finally {
            guard.unlock();
        }
    }

    private void refused(MongoCommandException e) {
        if (e.getErrorCode() == ONLY_ON_REPLICA_SETS) {
            log.debug("lock.no-change-stream reason=\"not a replica set\"");
            end();
        } else if (e.getErrorCode() == UNAUTHORIZED) {
            log.warn("lock.no-change-stream code={} problem={}", e.getErrorCode(), e.getErrorMessage());
            end();
        } else {
            pause(e);
        }
    }

    private void pause(RuntimeException e) {
        guard.lock();
        try {
            if (!ended) {
                log.warn("lock.not-listening problem={}", e.getMessage());
            }
            long left = REOPEN_NANOS;
            while (left > 0 && !ended) {
                left = changed.awaitNanos(left);
            }
        } catch (InterruptedException interrupted) {
            // Nobody else knows this thread: it goes on, and ends when it is no longer wanted.
            log.debug("lock.listener-interrupted");
        } finally {
            guard.unlock();
        }
    }

    private void wake(Predicate<Watch> which) {
        List<Watch> woken;
        guard.lock();
        try {
            woken = watches.stream().filter(which).toList();
        } finally {
            guard.unlock();
        }
        woken.forEach(Watch::wake);
    }

    private void end() {
        guard.lock();
        try {
            ended = true;
            changed.signalAll();
        } finally {
            guard.unlock();
        }
    }

    @Override
    public void close() {
        end();
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
