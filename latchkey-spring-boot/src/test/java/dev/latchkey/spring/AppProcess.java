package dev.latchkey.spring;

import dev.latchkey.testkit.SecondProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/** An application in a process of its own, started with the class path of this one, which can be ended, killed and frozen. */
final class AppProcess implements AutoCloseable {

    private final Process process;
    private final Path output;

    private AppProcess(Process process, Path output) {
        this.process = process;
        this.output = output;
    }

    static AppProcess start(Class<?> main, Path directory, String... arguments) throws IOException {
        return start(List.of(), System.getProperty("java.class.path"), main.getName(), directory, arguments);
    }

    static AppProcess start(List<String> options, String classPath, String main, Path directory, String... arguments)
            throws IOException {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        // Starts sooner, and three of them share two cores.
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Xmx256m"));
        command.addAll(options);
        command.addAll(List.of("-cp", classPath, main));
        command.addAll(List.of(arguments));
        Path output = Files.createTempFile(directory, "app", ".log");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        return new AppProcess(process, output);
    }

    String output() {
        try {
            return Files.readString(output);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits until it has printed a line that begins with this, and returns the rest of that. */
    String awaitLine(String start) {
        return Awaitility.await("a line " + start)
                .atMost(SecondProcess.LIMIT.multipliedBy(2))
                .until(() -> line(start), line -> !line.isEmpty());
    }

    private String line(String start) {
        boolean isAlive = process.isAlive();
        String line = output().lines()
                .filter(one -> one.startsWith(start))
                .map(one -> one.substring(start.length()))
                .findFirst()
                .orElse("");
        if (line.isEmpty() && !isAlive) {
            throw new AssertionError("it has ended, and printed:\n" + output());
        }
        return line;
    }

    long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** With SIGTERM, as a service manager does. */
    void terminate() {
        process.destroy();
    }

    int awaitEnd() throws InterruptedException {
        if (!process.waitFor(SecondProcess.LIMIT.multipliedBy(2).toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError("it has not ended, and printed:\n" + output());
        }
        return process.exitValue();
    }

    void kill() {
        Process unused = process.destroyForcibly().onExit().join();
    }

    void freeze() throws Exception {
        signal("-STOP");
    }

    void thaw() throws Exception {
        signal("-CONT");
    }

    private void signal(String signal) throws Exception {
        Process kill = new ProcessBuilder("kill", signal, Long.toString(pid()))
                .inheritIO()
                .start();
        if (kill.waitFor() != 0) {
            throw new AssertionError("kill " + signal + " failed");
        }
    }

    @Override
    public void close() {
        kill();
    }
}
