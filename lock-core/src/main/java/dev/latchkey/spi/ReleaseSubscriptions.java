package dev.latchkey.spi;

import dev.latchkey.threads.DaemonThreads;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The subscriptions of a {@link NotifyingStore} that receives the notifications of all its resources in one place, on one
 * daemon thread. The thread runs while there are subscriptions, and ends some time after the last one was closed.
 * Whenever it starts to listen, including after a failure, it wakes all waiters once, because earlier notifications could
 * not be received.
 *
 * <p>Thread-safe.
 */
public final class ReleaseSubscriptions implements AutoCloseable {

    /** Listens to the backend, on the daemon thread. */
    @FunctionalInterface
    public interface Source {

        /**
         * Connects, calls {@link ReleaseSubscriptions#listening()}, and passes notifications to
         * {@link ReleaseSubscriptions#wake}, until it is no longer {@linkplain ReleaseSubscriptions#isWanted() wanted}.
         * It checks this at least every second.
         *
         * @param wakeups the subscriptions
         * @return what failed, for the log: it is called again after a second; empty to be called again at once if it is
         *     wanted
         */
        Optional<String> listen(ReleaseSubscriptions wakeups);
    }

    private static final Logger log = LoggerFactory.getLogger(NotifyingStore.class);
    private static final long LINGER_NANOS = Duration.ofSeconds(10).toNanos();
    private static final long RETRY_NANOS = Duration.ofSeconds(1).toNanos();

    private final String threadName;
    private final Source source;
    private final ReentrantLock guard = new ReentrantLock();
    private final Condition changed = guard.newCondition();
    private final Set<Watch> watches = new HashSet<>();
    private @Nullable Thread thread;
    private long lastWatchedNanos;
    private boolean closed;
    private volatile boolean listening;

    /**
     * Creates an object that does nothing until there is a subscription.
     *
     * @param threadName the name of the daemon thread
     * @param source the source of notifications
     */
    public ReleaseSubscriptions(String threadName, Source source) {
        this.threadName = threadName;
        this.source = source;
    }

    /**
     * Creates a subscription. Returns at once.
     *
     * @param name the name by which the source knows the resource
     * @return the subscription; it gets no hints after this object is closed
     */
    public ReleaseSubscription watch(String name) {
        Watch watch = new Watch(name);
        guard.lock();
        try {
            if (!closed) {
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
            Thread starting = new DaemonThreads().make(this::run, threadName);
            // It looks whether it is the one under the guard, and so after this; one that cannot start is not.
            starting.start();
            thread = starting;
        }
    }

    private void run() {
        while (isWanted()) {
            Optional<String> problem = listen();
            if (isMine()) {
                listening = false;
            }
            problem.ifPresent(this::pause);
        }
    }

    private Optional<String> listen() {
        try {
            return source.listen(this);
        } catch (Throwable e) {
            // Also an Error: without this thread all who wait would be left to their slowest questions.
            return Optional.of(e.toString());
        }
    }

    /** Called by the source: notifications from now on are received. */
    public void listening() {
        guard.lock();
        try {
            listening = isMine() && !closed;
        } finally {
            guard.unlock();
        }
        wake(watch -> true);
    }

    /**
     * Called by the source: returns whether to continue.
     *
     * @return false if the source must return without a failure; the next subscription then starts another thread
     */
    public boolean isWanted() {
        guard.lock();
        try {
            if (!watches.isEmpty()) {
                lastWatchedNanos = System.nanoTime();
            }
            boolean wanted = isMine() && !closed && System.nanoTime() - lastWatchedNanos < LINGER_NANOS;
            if (!wanted && isMine()) {
                listening = false;
                thread = null;
            }
            return wanted;
        } finally {
            guard.unlock();
        }
    }

    /** A thread that was given up may still be closing its connection when another listens already. */
    private boolean isMine() {
        guard.lock();
        try {
            return thread == Thread.currentThread();
        } finally {
            guard.unlock();
        }
    }

    /**
     * Called by the source: a resource may have become free.
     *
     * @param name as passed to {@link #watch}
     */
    public void wake(String name) {
        wake(watch -> watch.name.equals(name));
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

    /** Everybody has to ask by himself meanwhile, and begins at once. */
    private void pause(String problem) {
        wake(watch -> true);
        guard.lock();
        try {
            if (!closed) {
                log.warn("lock.not_listening problem={}", problem);
            }
            long left = RETRY_NANOS;
            while (left > 0 && !closed) {
                left = changed.awaitNanos(left);
            }
        } catch (InterruptedException interrupted) {
            // Nobody else knows this thread: it goes on, and ends when it is no longer wanted.
            log.debug("lock.listener_interrupted");
        } finally {
            guard.unlock();
        }
    }

    /** Ends the thread, and wakes all waiters, because they have to poll from now on. */
    @Override
    public void close() {
        guard.lock();
        try {
            closed = true;
            listening = false;
            changed.signalAll();
        } finally {
            guard.unlock();
        }
        wake(watch -> true);
    }

    /** One waiter's watch. */
    private final class Watch implements ReleaseSubscription {

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
