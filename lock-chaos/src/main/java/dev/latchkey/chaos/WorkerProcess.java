package dev.latchkey.chaos;

import dev.latchkey.testkit.ChildJvm;
import dev.latchkey.testkit.PosixSignal;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** A {@link Worker} as it is seen from outside: to be killed, frozen, and brought to rest. */
final class WorkerProcess implements AutoCloseable {

    private static final int REST_SECONDS = 90;

    private final String name;
    private final Process process;
    private final long startedNanos;
    private volatile long operations;

    private WorkerProcess(String name, Process process, long startedNanos) {
        this.name = name;
        this.process = process;
        this.startedNanos = startedNanos;
    }

    /**
     * Starts a worker; does not wait for it.
     *
     * @param name of it, which its holds begin with
     * @param dsn of its store
     * @param registerPort of the register
     * @param directory for its log; what it prints, and keys that are given away, are put beside it
     * @param workload what it does
     * @param findsFirst a directory of classes or resources that it finds before all others
     */
    static WorkerProcess start(
            String name, String dsn, int registerPort, Path directory, Workload workload, Optional<Path> findsFirst) {
        ChildJvm jvm = ChildJvm.of("chaos");
        ProcessBuilder builder = new ProcessBuilder(
                "-Xmx128m",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                Worker.class.getName(),
                name,
                directory.resolve(name).toString(),
                Integer.toString(registerPort),
                keys(directory).toString(),
                workload.name());
        // The DSN may hold a password, and arguments are for everybody to see.
        builder.environment().put(Worker.DSN, dsn);
        builder.redirectError(directory.resolveSibling("printed-by-" + name).toFile());
        try {
            long before = System.nanoTime();
            return new WorkerProcess(
                    name, findsFirst.map(jvm::findingFirst).orElse(jvm).start(builder), before);
        } catch (IOException e) {
            throw new UncheckedIOException("could not start a JVM", e);
        }
    }

    private static Path keys(Path directory) {
        try {
            return Files.createDirectories(directory.resolveSibling("keys"));
        } catch (IOException e) {
            throw new UncheckedIOException("could not make a directory for keys", e);
        }
    }

    /**
     * Waits until it is connected and takes locks. All times are compared across processes, which is allowed only where they
     * have the same clock: that is made sure of here.
     */
    void awaitReady() {
        long there = readyNanos();
        long now = System.nanoTime();
        if (there < startedNanos || there > now) {
            throw new IllegalStateException(
                    "System.nanoTime() is not one clock for all processes here, as it is on Linux: " + name + " read "
                            + there + " between " + startedNanos + " and " + now);
        }
    }

    @SuppressWarnings("resource") // Open as long as the process is.
    private long readyNanos() {
        BufferedReader printed = process.inputReader(StandardCharsets.UTF_8);
        try {
            for (String line = printed.readLine(); line != null; line = printed.readLine()) {
                if (line.startsWith(Worker.READY)) {
                    Daemon.start("operations of " + name, () -> countOperations(printed));
                    return Long.parseLong(line.substring(Worker.READY.length()));
                }
            }
            throw new IllegalStateException(name + " has ended at once, see what it printed beside its log");
        } catch (IOException e) {
            throw new UncheckedIOException("cannot hear of " + name, e);
        }
    }

    private void countOperations(BufferedReader printed) {
        try {
            for (String line = printed.readLine(); line != null; line = printed.readLine()) {
                operations = Long.parseLong(line);
            }
        } catch (IOException e) {
            // Killed.
        }
    }

    /** How many calls of its Locks have asked the store, as it said last. */
    long operations() {
        return operations;
    }

    String name() {
        return name;
    }

    /** SIGKILL. */
    void kill() {
        close();
    }

    /** SIGSTOP. */
    void freeze() {
        PosixSignal.STOP.sendTo(process.pid());
    }

    /** SIGCONT. */
    void thaw() {
        PosixSignal.CONT.sendTo(process.pid());
    }

    /** Tells it that the faults are over. */
    void finish() {
        try {
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
        } catch (IOException e) {
            // It has ended by itself, which awaitRest() tells.
        }
    }

    /**
     * Waits until it has ended as it should.
     *
     * @return whether it has
     */
    boolean awaitRest() throws InterruptedException {
        return process.waitFor(REST_SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0;
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
