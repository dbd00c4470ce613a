package dev.latchkey.chaos;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A {@link Worker} as it is seen from outside: to be killed, frozen, and brought to rest. */
final class WorkerProcess implements AutoCloseable {

    private static final int REST_SECONDS = 90;

    private final String name;
    private final Process process;
    private final long startedNanos;

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
     */
    static WorkerProcess start(String name, String dsn, int registerPort, Path directory) {
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xshare:auto",
                "-Xmx128m",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                "-cp",
                System.getProperty("java.class.path"),
                Worker.class.getName(),
                name,
                directory.resolve(name).toString(),
                Integer.toString(registerPort),
                keys(directory).toString());
        // The DSN may hold a password, and arguments are for everybody to see.
        builder.environment().put(Worker.DSN, dsn);
        builder.redirectError(directory.resolveSibling("printed-by-" + name).toFile());
        try {
            long before = System.nanoTime();
            return new WorkerProcess(name, builder.start(), before);
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
                    return Long.parseLong(line.substring(Worker.READY.length()));
                }
            }
            throw new IllegalStateException(name + " has ended at once, see what it printed beside its log");
        } catch (IOException e) {
            throw new UncheckedIOException("cannot hear of " + name, e);
        }
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
        signal("STOP");
    }

    /** SIGCONT. */
    void thaw() {
        signal("CONT");
    }

    private void signal(String signal) {
        try {
            int exit = new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid()))
                    .start()
                    .waitFor();
            if (exit != 0) {
                throw new IllegalStateException("kill -" + signal + " of " + name + " ended with " + exit);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("no command \"kill\" on this machine", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while sending a signal", e);
        }
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
