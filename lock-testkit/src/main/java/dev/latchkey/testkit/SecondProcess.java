package dev.latchkey.testkit;

import dev.latchkey.Key;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

/**
 * Another JVM that takes locks as it is told, and can be killed or frozen: a process of its own, with the class path of
 * this one.
 *
 * <pre>{@code
 * try (SecondProcess other = SecondProcess.connect("flock:///tmp/locks")) {
 *     RemoteLock lock = other.lock("report", Duration.ofSeconds(30));
 *     assertThat(lock.tryAcquire()).isTrue();
 *     other.kill();
 *     …
 * }
 * }</pre>
 *
 * <p>Every answer has a time limit; what fails shows what the process printed to its standard error. A process that was closed,
 * and neither killed nor left in the middle of something, may serve the next one who connects. Thread-safe.
 */
public final class SecondProcess implements AutoCloseable {

    /** How long a process may take to start, to answer or to end, before that counts as a failure. */
    public static final Duration LIMIT = TimeLimits.LIMIT;

    private final WorkerJvm jvm;

    private final AtomicBoolean closed = new AtomicBoolean();

    /** Whether nobody else can have the JVM: it has ended, or goes on with something until it is killed. */
    private volatile boolean isSpent;

    private volatile boolean isFrozen;

    private SecondProcess(WorkerJvm jvm) {
        this.jvm = jvm;
    }

    /**
     * Starts a process and has it open a store.
     *
     * @param dsn for {@link dev.latchkey.LockFactory#connect(String)}
     * @return the process, ready
     * @throws AssertionError if it does not start, or cannot open the store
     */
    public static SecondProcess connect(String dsn) {
        return connect(dsn, 1).get(0);
    }

    /**
     * Starts a process in another environment, such as another time zone, and has it open a store.
     *
     * @param dsn for {@link dev.latchkey.LockFactory#connect(String)}
     * @param environment variables besides those of this process
     * @return the process, ready
     * @throws AssertionError as {@link #connect(String)}
     */
    public static SecondProcess connect(String dsn, Map<String, String> environment) {
        SecondProcess started = new SecondProcess(WorkerJvm.start(environment));
        started.isSpent = true;
        connect(dsn, List.of(started));
        return started;
    }

    /**
     * Starts several processes at once, which is faster than one after the other.
     *
     * @param dsn for {@link dev.latchkey.LockFactory#connect(String)}
     * @param count how many
     * @return the processes, ready
     * @throws AssertionError as {@link #connect(String)}
     */
    public static List<SecondProcess> connect(String dsn, int count) {
        List<SecondProcess> started = Stream.generate(() -> new SecondProcess(WorkerJvm.idleOrNew()))
                .limit(count)
                .toList();
        connect(dsn, started);
        return started;
    }

    private static void connect(String dsn, List<SecondProcess> started) {
        try {
            // The DSN may hold a password, and arguments are for everybody to see.
            List<Reply> replies =
                    started.stream().map(one -> one.send("connect", dsn)).toList();
            replies.forEach(Reply::text);
        } catch (AssertionError | RemoteFailure e) {
            started.forEach(one -> one.jvm.end());
            throw new AssertionError("the second process could not connect", e);
        }
    }

    /**
     * Makes a lock in that process.
     *
     * @param resource what it protects
     * @param ttl its TTL
     * @return a handle on it
     */
    public RemoteLock lock(String resource, Duration ttl) {
        return new RemoteLock(this, send("lock", resource, ttl.toString()).text());
    }

    /**
     * Makes a sticky lock in that process.
     *
     * @param resource what it protects
     * @param ttl its TTL
     * @param sticky how long the process may keep it
     * @return a handle on it
     */
    public RemoteLock stickyLock(String resource, Duration ttl, Duration sticky) {
        return new RemoteLock(
                this,
                send("stickyLock", resource, ttl.toString(), sticky.toString()).text());
    }

    /**
     * Makes a semaphore in that process.
     *
     * @param name its name
     * @param permits how many there are
     * @param ttl the TTL of the permits
     * @return a handle on it
     */
    public RemoteSemaphore semaphore(String name, int permits, Duration ttl) {
        String number = Integer.toString(permits);
        return new RemoteSemaphore(
                this, send("semaphore", name, number, ttl.toString()).text());
    }

    /**
     * Makes a lock in that process for a key of this one: the key travels as its serialized text.
     *
     * @param key the owner
     * @param ttl its TTL, from the next refresh or acquire on
     * @return a handle on it
     */
    public RemoteLock lock(Key key, Duration ttl) {
        return new RemoteLock(
                this, send("adopt", key.serialize(), ttl.toString()).text());
    }

    /**
     * Has the process add one to the number in a file again and again, each time under the lock, and write down each hold.
     *
     * @param tally the number and the record
     * @param resource the lock
     * @param ttl its TTL
     * @param times how often
     * @return the end of the work
     */
    public Reply increment(Tally tally, String resource, Duration ttl, int times) {
        return send("increment", tally.directory().toString(), resource, ttl.toString(), Integer.toString(times));
    }

    /**
     * Has the process acquire random sets of the same resources again and again, and add one to the number of each.
     *
     * @param directory has a directory with a {@link Tally} for each resource
     */
    Reply incrementSets(Path directory, String prefix, Duration ttl, int times, int seed) {
        return send(
                "incrementSets",
                directory.toString(),
                prefix,
                ttl.toString(),
                Integer.toString(times),
                Integer.toString(seed));
    }

    /**
     * Has the process stand for election until it is killed.
     *
     * @param election its name
     * @param ttl the lease of the leader
     * @return the number of its first term, once it leads
     */
    Reply lead(String election, Duration ttl) {
        isSpent = true;
        return send("lead", election, ttl.toString());
    }

    /**
     * Has the process acquire random numbers of permits again and again, and count those that are held.
     *
     * @param count the file of a {@link PermitCount}
     * @param permits how many there are; now and then the process knows one less
     */
    Reply countPermits(Path count, String semaphore, int permits, Duration ttl, int times, int seed) {
        return send(
                "countPermits",
                count.toString(),
                semaphore,
                Integer.toString(permits),
                ttl.toString(),
                Integer.toString(times),
                Integer.toString(seed));
    }

    /**
     * Has the process edit a tree until it is killed.
     *
     * @param how {@code lockFamilies} or {@code editTree}, as {@link TreeActor} does them
     * @param number the size of a family, or the seed
     */
    Reply act(String how, String tree, Duration ttl, Path directory, String name, int number) {
        isSpent = true;
        return send(how, tree, ttl.toString(), directory.toString(), name, Integer.toString(number));
    }

    /** Ends the process with SIGKILL, and waits until it is gone. */
    public void kill() {
        isSpent = true;
        jvm.kill();
    }

    /** Asks the process to end, with SIGTERM, as a service manager does, and waits until it has. */
    public void terminate() {
        isSpent = true;
        jvm.terminate();
    }

    /** Freezes the process with SIGSTOP: it keeps its connections and files, and does nothing. */
    public void freeze() {
        isFrozen = true;
        PosixSignal.STOP.sendTo(pid());
    }

    /** Lets a frozen process go on, with SIGCONT. */
    public void thaw() {
        PosixSignal.CONT.sendTo(pid());
        isFrozen = false;
    }

    /**
     * Has the process close its factory and end by itself.
     *
     * @return its exit code
     */
    public int exit() {
        isSpent = true;
        return jvm.exit();
    }

    /**
     * Waits until the process has ended.
     *
     * @return its exit code
     */
    public int awaitExit() {
        isSpent = true;
        return jvm.awaitExit();
    }

    /**
     * Returns the id of the process.
     *
     * @return as the operating system counts
     */
    public long pid() {
        return jvm.pid();
    }

    /** Has the process close its factory, or kills it if it cannot: holds that are to outlive it need {@link #kill()}. */
    @Override
    public void close() {
        if (closed.getAndSet(true)) {
            return;
        }
        if (isSpent || isFrozen) {
            jvm.end();
        } else {
            jvm.giveBack();
        }
    }

    Reply send(String... command) {
        if (closed.get()) {
            throw new IllegalStateException("the second process has been closed");
        }
        return jvm.send(command);
    }
}
