package dev.latchkey.testkit;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A place in a {@link Stress}: one {@link StressWorker} after the other, each at the same proxy. */
final class StressProcess implements AutoCloseable {

    private static final int THREADS = 4;
    private static final int RESOURCES = 5;
    private static final int DRAIN_SECONDS = 90;

    private final String name;
    private final FaultProxy proxy;
    private final String dsn;
    private final Path directory;
    private String classPath = System.getProperty("java.class.path");
    private int generation;
    private long operationsBefore;
    private @Nullable Worker worker;

    StressProcess(String name, FaultProxy proxy, Function<ServerAddress, String> dsn, Path directory) {
        this.name = name;
        this.proxy = proxy;
        this.dsn = dsn.apply(proxy.address());
        this.directory = directory;
    }

    FaultProxy proxy() {
        return proxy;
    }

    void findFirst(Path classes) {
        classPath = classes + File.pathSeparator + classPath;
    }

    void start() {
        String worker = name + "-" + generation++;
        ProcessBuilder builder = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xshare:auto",
                "-Xmx128m",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                "-cp",
                classPath,
                StressWorker.class.getName(),
                worker,
                directory.resolve(worker).toString(),
                Integer.toString(THREADS),
                Integer.toString(RESOURCES));
        builder.environment().put(StressWorker.DSN, dsn);
        File said = directory.resolveSibling("said-by-" + worker).toFile();
        try {
            this.worker = new Worker(builder.redirectError(said).start());
        } catch (IOException e) {
            throw new UncheckedIOException("could not start a JVM", e);
        }
    }

    /** Kills the process, in the middle of whatever it does, and starts another in its place. */
    void replace() {
        Worker killed = running();
        killed.kill();
        operationsBefore += killed.operations;
        start();
    }

    void freeze(int millis) {
        long pid = running().process.pid();
        PosixSignal.STOP.sendTo(pid);
        try {
            Stress.pause(millis);
        } finally {
            PosixSignal.CONT.sendTo(pid);
        }
    }

    long operations() {
        Worker now = worker;
        return operationsBefore + (now == null ? 0 : now.operations);
    }

    /** Has it finish what it has begun, and waits until it has. */
    void drain() {
        Worker draining = running();
        try {
            draining.process.getOutputStream().write('\n');
            draining.process.getOutputStream().flush();
            if (!draining.process.waitFor(DRAIN_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError(name + " does not come to rest");
            }
            draining.reader.join();
        } catch (IOException e) {
            throw new UncheckedIOException(name + " has ended by itself, see its log beside the history", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while a process came to rest", e);
        }
        if (!draining.drained) {
            throw new AssertionError(
                    name + " has ended with " + draining.process.exitValue() + ", see its log beside the history");
        }
    }

    private Worker running() {
        Worker running = worker;
        if (running == null) {
            throw new IllegalStateException(name + " was not started");
        }
        return running;
    }

    @Override
    public void close() {
        Worker running = worker;
        if (running != null) {
            running.kill();
        }
        proxy.close();
    }

    private static final class Worker {

        private final Process process;
        private final Thread reader;
        private volatile long operations;
        private volatile boolean drained;

        Worker(Process process) {
            this.process = process;
            this.reader = new Thread(this::read, "stress-process-" + process.pid());
            reader.setDaemon(true);
            reader.start();
        }

        private void read() {
            try (BufferedReader lines =
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    if (line.equals(StressWorker.DRAINED)) {
                        drained = true;
                    } else {
                        operations = Long.parseLong(line);
                    }
                }
            } catch (IOException e) {
                // Killed.
            }
        }

        void kill() {
            process.destroyForcibly();
            try {
                process.waitFor();
                reader.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
