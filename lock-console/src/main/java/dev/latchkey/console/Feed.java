package dev.latchkey.console;

import dev.latchkey.LockException;
import dev.latchkey.LockFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Reads the store once in each interval while somebody looks, however many they are, and not at all while nobody does. All that look get the
 * same snapshot, and wait for the next one: nobody is called, so one that is slow delays no other. It does not close the factory that it reads
 * from. Thread-safe.
 */
public final class Feed implements AutoCloseable {

    /** A listing that takes long is not begun again at once: the store is busy with it for 1 % of the time at most. */
    private static final int REST_BY_DURATION = 100;

    private static final long LONGEST_REST_NANOS = TimeUnit.SECONDS.toNanos(60);

    /** The first that looks after a time without any does not wait for the end of a long interval. */
    private static final long SHORTEST_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final long SLOW_NANOS = TimeUnit.SECONDS.toNanos(5);

    private static final byte[] NOTHING = "}".getBytes(StandardCharsets.UTF_8);

    private final LockFactory locks;
    private final String prefix;
    private final long intervalNanos;
    private final Snapshot.Clock clock = new Snapshot.Clock();
    private final Thread reader;

    /** So that no version of another process, or of an earlier one, is taken for one of ours. */
    private final String name =
            Long.toString(ThreadLocalRandom.current().nextLong(Long.MAX_VALUE), Character.MAX_RADIX);

    private final ReentrantLock guard = new ReentrantLock();
    private final Condition changed = guard.newCondition();
    private Snapshot current = Snapshot.none();
    private long readAt;
    private long restNanos;
    private int listeners;
    private boolean isFirstWaiting;
    private boolean isStarted;
    private boolean closed;

    /** 0 between two readings. */
    private volatile long readingSince;

    /**
     * Creates a feed, which reads nothing yet.
     *
     * @param locks what it reads from
     * @param prefix what the names of the shown resources begin with
     * @param interval how often the store is read while somebody looks; less often if reading takes long
     */
    public Feed(LockFactory locks, String prefix, Duration interval) {
        this.locks = locks;
        this.prefix = prefix;
        this.intervalNanos = interval.toNanos();
        reader = new Thread(this::readUntilClosed, "latchkey-console-reader");
        reader.setDaemon(true);
    }

    /**
     * Begins to look.
     *
     * @return what is told, until it is closed
     */
    public Listener listen() {
        return new Listener(join());
    }

    /** Somebody who looks all the time. For one thread. */
    public final class Listener implements AutoCloseable {

        private long seen;
        private boolean hasAll;

        private Listener(long seen) {
            this.seen = seen;
        }

        /**
         * Waits for something new.
         *
         * @param maxWait how long to wait at most
         * @return everything at first and after something was missed, else what has changed; what tells that there is nothing, if the wait is over
         * @throws InterruptedException if the thread is interrupted
         */
        public Message next(Duration maxWait) throws InterruptedException {
            Optional<Snapshot> next = awaitAfter(seen, maxWait);
            if (next.isEmpty()) {
                return nothing(seen);
            }
            long before = hasAll ? seen : 0;
            seen = next.get().version();
            hasAll = true;
            return message(next.get(), before);
        }

        @Override
        public void close() {
            leave();
        }
    }

    /**
     * Returns what has changed since, for somebody who looks again and again. The store is read if nobody has read it for an interval.
     *
     * @param version that of the message that this one had last; any other text, if it has none
     * @param maxWait how long to wait for the store at most
     * @return everything, what has changed, or what tells that nothing has
     * @throws InterruptedException if the thread is interrupted
     */
    public Message since(String version, Duration maxWait) throws InterruptedException {
        long seen = join();
        try {
            Optional<Snapshot> next = awaitAfter(seen, maxWait);
            long known = known(version);
            return next.isEmpty() || next.get().version() == known ? nothing(known) : message(next.get(), known);
        } finally {
            leave();
        }
    }

    /**
     * Returns what is held.
     *
     * @param maxWait how long to wait for the store at most
     * @return everything; empty if the store has not answered in time
     * @throws InterruptedException if the thread is interrupted
     */
    public Optional<Message> all(Duration maxWait) throws InterruptedException {
        long seen = join();
        try {
            return awaitAfter(seen, maxWait).map(snapshot -> message(snapshot, 0));
        } finally {
            leave();
        }
    }

    private Message message(Snapshot snapshot, long before) {
        String version = name + "." + snapshot.version();
        boolean isNext = before > 0 && snapshot.version() == before + 1;
        return isNext ? snapshot.change(version, clock) : snapshot.all(version, clock);
    }

    private Message nothing(long known) {
        Message.Kind kind = isSlow() ? Message.Kind.SLOW : Message.Kind.SAME;
        return new Message(kind, name + "." + known, clock.millis(), NOTHING);
    }

    /** 0 if it is none of ours. */
    private long known(String version) {
        String number = version.startsWith(name + ".") ? version.substring(name.length() + 1) : "";
        return number.matches("[0-9]{1,18}") ? Long.parseLong(number) : 0;
    }

    /** Returns the last version that is out of date for whoever joins: it waits for a later one. */
    private long join() {
        guard.lock();
        try {
            if (!isStarted && !closed) {
                // First: if there is no thread to be had, whoever looks next tries again.
                reader.start();
                isStarted = true;
            }
            listeners++;
            // One that joins others sees what they see.
            boolean isOld = listeners == 1 && !isFresh();
            isFirstWaiting |= isOld;
            changed.signalAll();
            // What is shown while a reading hangs may be as old as that.
            return isOld || isSlow() ? current.version() : 0;
        } finally {
            guard.unlock();
        }
    }

    private boolean isFresh() {
        return current.version() > 0 && System.nanoTime() - readAt < firstPauseNanos();
    }

    private long firstPauseNanos() {
        return Math.max(restNanos, Math.min(intervalNanos, SHORTEST_INTERVAL_NANOS));
    }

    private void leave() {
        guard.lock();
        try {
            listeners--;
        } finally {
            guard.unlock();
        }
    }

    /** Waits for a later snapshot; empty if there is none within this time. */
    private Optional<Snapshot> awaitAfter(long version, Duration maxWait) throws InterruptedException {
        long left = maxWait.toNanos();
        guard.lock();
        try {
            while (current.version() <= version && !closed) {
                if (left <= 0) {
                    return Optional.empty();
                }
                left = changed.awaitNanos(left);
            }
            return Optional.of(current);
        } finally {
            guard.unlock();
        }
    }

    /** Whether a reading has begun long ago and has not ended. */
    private boolean isSlow() {
        long since = readingSince;
        return since != 0 && System.nanoTime() - since > SLOW_NANOS;
    }

    /**
     * Tells whether it is closed.
     *
     * @return true from then on
     */
    public boolean isClosed() {
        guard.lock();
        try {
            return closed;
        } finally {
            guard.unlock();
        }
    }

    private void readUntilClosed() {
        try {
            while (awaitListener()) {
                long began = System.nanoTime();
                readingSince = began == 0 ? 1 : began;
                Snapshot snapshot = read();
                readingSince = 0;
                publish(snapshot, snapshot.isFailed() ? 0 : System.nanoTime() - began);
                pause();
            }
        } catch (InterruptedException e) {
            // Only close() interrupts this thread, which is our own and ends here.
        }
    }

    private boolean awaitListener() throws InterruptedException {
        guard.lock();
        try {
            while (listeners == 0 && !closed) {
                changed.await();
            }
            return !closed;
        } finally {
            guard.unlock();
        }
    }

    /** Only this thread replaces the current snapshot. */
    private Snapshot read() {
        try {
            return current.read(locks, prefix, clock);
        } catch (LockException e) {
            return current.failed(Text.message(String.valueOf(e.getMessage())));
        } catch (UnsupportedOperationException e) {
            return current.failed("this store cannot list what is held");
        } catch (RuntimeException | Error e) {
            // A defect of a store must not end this thread: pages would show for ever what was held before.
            return current.failed(Text.message(e.toString()));
        }
    }

    private void publish(Snapshot snapshot, long tookNanos) {
        guard.lock();
        try {
            current = snapshot;
            readAt = System.nanoTime();
            restNanos = Math.min(REST_BY_DURATION * tookNanos, LONGEST_REST_NANOS);
            isFirstWaiting = false;
            changed.signalAll();
        } finally {
            guard.unlock();
        }
    }

    private void pause() throws InterruptedException {
        guard.lock();
        try {
            while (!closed) {
                long whole = isFirstWaiting ? firstPauseNanos() : Math.max(intervalNanos, restNanos);
                long left = whole - (System.nanoTime() - readAt);
                if (left <= 0) {
                    return;
                }
                long unused = changed.awaitNanos(left);
            }
        } finally {
            guard.unlock();
        }
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
        reader.interrupt();
    }
}
