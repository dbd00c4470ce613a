package dev.latchkey.testkit;

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
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * The JVM of a {@link SecondProcess}, in which a {@link Worker} runs. Who is done with one gives it back to the next, unless it
 * was killed, frozen or left in the middle of something: starting one costs more than most tests do. They end with this JVM, for
 * their input does. Thread-safe.
 */
final class WorkerJvm {

    private static final Duration LIMIT = TimeLimits.LIMIT;

    /** How long closing a store may take before it is quicker to start another JVM. */
    private static final Duration DISCONNECT = Duration.ofSeconds(3);

    /** Each keeps some 60 MB of memory. */
    private static final int MOST_IDLE = 4;

    private static final Deque<WorkerJvm> IDLE = new ConcurrentLinkedDeque<>();

    private static final int STDERR_SHOWN = 8_000;

    private static final ClassArchive CLASSES = ClassArchive.of("worker");

    private final Process process;
    private final PrintStream commands;
    private final StringBuilder stderr = new StringBuilder();
    private final Map<String, CompletableFuture<List<String>>> replies = new ConcurrentHashMap<>();
    private final AtomicInteger numbers = new AtomicInteger();
    private volatile boolean records;
    private volatile boolean ended;

    private WorkerJvm(Process process) {
        this.process = process;
        this.commands = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
        pump("second-process-out", process.getInputStream(), this::onReply, this::onEnd);
        pump("second-process-err", process.getErrorStream(), this::onPrinted, () -> {});
    }

    /** Returns one that is connected to nothing. */
    static WorkerJvm idleOrNew() {
        for (WorkerJvm idle = IDLE.pollLast(); idle != null; idle = IDLE.pollLast()) {
            if (idle.process.isAlive()) {
                return idle;
            }
        }
        List<String> toRecord = CLASSES.toRecord();
        if (toRecord.isEmpty()) {
            return start(Map.of());
        }
        Process process = start(toRecord, Map.of());
        CompletableFuture<Void> unused = process.onExit().thenAccept(CLASSES::recordedBy);
        WorkerJvm recorder = new WorkerJvm(process);
        recorder.records = true;
        return recorder;
    }

    /** Starts one with these environment variables besides those of this process. */
    static WorkerJvm start(Map<String, String> environment) {
        return new WorkerJvm(start(CLASSES.toUse(), environment));
    }

    private static Process start(List<String> options, Map<String, String> environment) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ChildJvm.OPTIONS);
        command.add("-Xmx128m");
        command.addAll(options);
        command.addAll(List.of("-cp", CLASSES.classPath(), Worker.class.getName()));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(environment);
        try {
            return builder.start();
        } catch (IOException e) {
            throw new UncheckedIOException("could not start a second JVM", e);
        }
    }

    /** Lets the next have it if it can be disconnected, or else ends it. */
    void giveBack() {
        boolean isIdle = (records || IDLE.size() < MOST_IDLE) && replies.isEmpty() && isDisconnected();
        if (isIdle && records) {
            int unused = exit();
            end();
        } else if (isIdle) {
            synchronized (stderr) {
                stderr.setLength(0);
            }
            IDLE.addLast(this);
        } else {
            end();
        }
    }

    private boolean isDisconnected() {
        try {
            return send("disconnect").isYes(TimeLimits.scaled(DISCONNECT));
        } catch (AssertionError | RemoteFailure e) {
            return false;
        }
    }

    /** Kills it if it still runs. */
    void end() {
        kill();
        commands.close();
    }

    void kill() {
        process.destroyForcibly();
        awaitExit();
    }

    void terminate() {
        // Not by the process itself, which would close its input as well: the worker takes that for the end of its
        // parent.
        if (!process.toHandle().destroy()) {
            throw new AssertionError("the second process could not be asked to end");
        }
        awaitExit();
    }

    int exit() {
        commands.println(Wire.line(List.of("-", "exit")));
        return awaitExit();
    }

    int awaitExit() {
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

    long pid() {
        return process.pid();
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
