package dev.latchkey.testkit;

import dev.latchkey.Key;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

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
 * <p>Every answer has a time limit; what fails shows what the process printed to its standard error. Thread-safe.
 */
public final class SecondProcess implements AutoCloseable {

    /** How long a process may take to start, to answer or to end, before that counts as a failure. */
    public static final Duration LIMIT = TimeLimits.LIMIT;

    private static final int STDERR_SHOWN = 8_000;

    private final Process process;
    private final PrintStream commands;
    private final StringBuilder stderr = new StringBuilder();
    private final Map<String, CompletableFuture<List<String>>> replies = new ConcurrentHashMap<>();
    private final AtomicInteger numbers = new AtomicInteger();
    private volatile boolean ended;

    private SecondProcess(Process process) {
        this.process = process;
        this.commands = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
        pump("second-process-out", process.getInputStream(), this::onReply, this::onEnd);
        pump("second-process-err", process.getErrorStream(), this::onPrinted, () -> {});
    }

    /**
     * Starts a process and has it open a store.
     *
     * @param dsn for {@link dev.latchkey.LockFactory#connect(String)}
     * @return the process, ready
     * @throws AssertionError if it does not start, or cannot open the store
     */
    public static SecondProcess connect(String dsn) {
        SecondProcess started = start(dsn, Map.of());
        started.awaitReady();
        return started;
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
        SecondProcess started = start(dsn, environment);
        started.awaitReady();
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
        List<SecondProcess> started = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                started.add(start(dsn, Map.of()));
            }
            started.forEach(SecondProcess::awaitReady);
            return List.copyOf(started);
        } catch (AssertionError e) {
            started.forEach(SecondProcess::close);
            throw e;
        }
    }

    private static SecondProcess start(String dsn, Map<String, String> environment) {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        ProcessBuilder builder = new ProcessBuilder(
                java,
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xshare:auto",
                "-Xmx128m",
                "-cp",
                System.getProperty("java.class.path"),
                Worker.class.getName());
        // The DSN may hold a password, and arguments are for everybody to see.
        builder.environment().put(Worker.DSN, dsn);
        builder.environment().putAll(environment);
        try {
            return new SecondProcess(builder.start());
        } catch (IOException e) {
            throw new UncheckedIOException("could not start a second JVM", e);
        }
    }

    private void awaitReady() {
        try {
            send("ready").text();
        } catch (AssertionError | RemoteFailure e) {
            close();
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
        return send(how, tree, ttl.toString(), directory.toString(), name, Integer.toString(number));
    }

    /** Ends the process with SIGKILL, and waits until it is gone. */
    public void kill() {
        process.destroyForcibly();
        awaitExit();
    }

    /** Asks the process to end, with SIGTERM, as a service manager does, and waits until it has. */
    public void terminate() {
        // Not by the process itself, which would close its input as well: the worker takes that for the end of its
        // parent.
        if (!process.toHandle().destroy()) {
            throw new AssertionError("the second process could not be asked to end");
        }
        awaitExit();
    }

    /** Freezes the process with SIGSTOP: it keeps its connections and files, and does nothing. */
    public void freeze() {
        PosixSignal.STOP.sendTo(pid());
    }

    /** Lets a frozen process go on, with SIGCONT. */
    public void thaw() {
        PosixSignal.CONT.sendTo(pid());
    }

    /**
     * Has the process close its factory and end by itself.
     *
     * @return its exit code
     */
    public int exit() {
        commands.println(Wire.line(List.of("-", "exit")));
        return awaitExit();
    }

    /**
     * Waits until the process has ended.
     *
     * @return its exit code
     */
    public int awaitExit() {
        try {
            if (!process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError(said("the second process did not end within " + LIMIT));
            }
            return process.exitValue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while waiting for the second process to end", e);
        }
    }

    /**
     * Returns the id of the process.
     *
     * @return as the operating system counts
     */
    public long pid() {
        return process.pid();
    }

    /** Kills the process if it still runs. */
    @Override
    public void close() {
        process.destroyForcibly();
        awaitExit();
        commands.close();
    }

    Reply send(String... command) {
        String number = Integer.toString(numbers.incrementAndGet());
        CompletableFuture<List<String>> reply = new CompletableFuture<>();
        replies.put(number, reply);
        List<String> words = new ArrayList<>(List.of(number));
        words.addAll(List.of(command));
        synchronized (commands) {
            commands.println(Wire.line(words));
        }
        if (ended) {
            reply.completeExceptionally(processEnded());
        }
        return new Reply(this, number, command[0], reply);
    }

    /** A message followed by what the process printed. */
    String said(String problem) {
        String all;
        synchronized (stderr) {
            all = stderr.toString();
        }
        String shown = all.substring(Math.max(0, all.length() - STDERR_SHOWN));
        return problem + (shown.isBlank() ? "; it printed nothing" : "; it printed:\n" + shown);
    }

    private static IllegalStateException processEnded() {
        return new IllegalStateException("the second process has ended");
    }

    private void onPrinted(String line) {
        synchronized (stderr) {
            stderr.append(line).append('\n');
        }
    }

    private void onEnd() {
        ended = true;
        replies.values().forEach(reply -> reply.completeExceptionally(processEnded()));
    }

    private void onReply(String line) {
        if (!line.startsWith(Worker.ANSWER)) {
            onPrinted(line);
            return;
        }
        List<String> words = Wire.words(line.substring(Worker.ANSWER.length()));
        CompletableFuture<List<String>> reply = replies.remove(words.get(0));
        if (reply != null) {
            reply.complete(words.subList(1, words.size()));
        }
    }

    private static void pump(String name, InputStream from, Consumer<String> to, Runnable end) {
        Thread thread = new Thread(
                () -> {
                    try (BufferedReader lines =
                            new BufferedReader(new InputStreamReader(from, StandardCharsets.UTF_8))) {
                        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                            to.accept(line);
                        }
                    } catch (IOException e) {
                        to.accept("(its output could not be read: " + e + ")");
                    } finally {
                        end.run();
                    }
                },
                name);
        thread.setDaemon(true);
        thread.start();
    }
}
