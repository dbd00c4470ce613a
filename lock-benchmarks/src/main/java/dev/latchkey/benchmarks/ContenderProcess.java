package dev.latchkey.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** A JVM with one contender's client in it, pinned to the processor of the server; idle until it has its turn. */
final class ContenderProcess implements AutoCloseable {

    /**
     * What came of a turn.
     *
     * @param cpuNanos what it has taken of the processor
     * @param cyclesPerThread one number for each thread
     * @param latencies of all its cycles
     */
    record Turn(long cpuNanos, List<Long> cyclesPerThread, Latencies latencies) {}

    private final Process process;
    private final BufferedReader answers;
    private final PrintStream commands;

    private ContenderProcess(Process process) {
        this.process = process;
        this.answers = process.inputReader(StandardCharsets.UTF_8);
        this.commands = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
    }

    static ContenderProcess start(Contender contender, String host, int port, int threads) {
        ProcessBuilder builder = new ProcessBuilder(
                "taskset",
                "-c",
                "0",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx192m",
                "-cp",
                System.getProperty("java.class.path"),
                ContenderMain.class.getName(),
                contender.name(),
                host,
                Integer.toString(port),
                Integer.toString(threads));
        try {
            return new ContenderProcess(
                    builder.redirectError(ProcessBuilder.Redirect.INHERIT).start());
        } catch (IOException e) {
            throw new UncheckedIOException("no command \"taskset\", which the package util-linux has", e);
        }
    }

    /** Waits until it is connected. */
    void awaitReady() {
        var unused = answer(ContenderMain.READY);
    }

    /** Has it go through cycles from one {@link System#nanoTime()} to another; does not wait. */
    void begin(long from, long until) {
        commands.println(from + " " + until);
    }

    /** Waits for the end of what {@link #begin} began. */
    Turn end() {
        String[] words = answer(ContenderMain.ANSWER).split(" ", -1);
        List<Long> cycles =
                List.of(words[2].split(",", -1)).stream().map(Long::valueOf).toList();
        return new Turn(Long.parseLong(words[1]), cycles, Latencies.parse(words[3]));
    }

    /** Waits for the next line that begins so; libraries print others. */
    private String answer(String beginning) {
        try {
            for (String line = answers.readLine(); line != null; line = answers.readLine()) {
                if (line.startsWith(beginning)) {
                    return line;
                }
            }
            throw new IllegalStateException("a contender has ended, with " + process.waitFor());
        } catch (IOException e) {
            throw new UncheckedIOException("no answer of a contender", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
