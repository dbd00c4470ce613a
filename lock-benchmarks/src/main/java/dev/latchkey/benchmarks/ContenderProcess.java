package dev.latchkey.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A JVM with one contender's client in it; idle until it has its turn. */
final class ContenderProcess implements AutoCloseable {

    /**
     * What came of a turn.
     *
     * @param cpuNanos what it has taken of the processor
     * @param overlaps how often it was let in while another was inside
     * @param cyclesPerThread one number for each thread
     * @param latencies of all its cycles
     */
    record Turn(long cpuNanos, long overlaps, List<Long> cyclesPerThread, Latencies latencies) {}

    /** A contender did not do what it was told, and is out of the race. */
    static final class CutException extends Exception {
        private static final long serialVersionUID = 1L;

        CutException(String reason) {
            super(reason);
        }
    }

    private static final Duration PROFILER = Duration.ofSeconds(30);
    private static final String END = "the process has ended";

    private final Process process;
    private final PrintStream commands;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

    private ContenderProcess(Process process) {
        this.process = process;
        this.commands = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
        Thread reader = new Thread(this::read, "answers of a contender");
        reader.setDaemon(true);
        reader.start();
    }

    static ContenderProcess start(Contest contest, Contender contender, Table table, String address, Path witness) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xmx192m");
        command.addAll(table.placement().jvmOptions());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), ContenderMain.class.getName()));
        command.addAll(List.of(contest.getClass().getName(), contender.title(), address));
        command.addAll(List.of(Integer.toString(table.threads()), Integer.toString(table.stride())));
        command.add(table.isContended() ? witness.toString() : "");
        try {
            return new ContenderProcess(new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start a JVM", e);
        }
    }

    private void read() {
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8);
                Stream<String> all = lines.lines()) {
            all.forEach(answers::add);
        } catch (IOException | UncheckedIOException closed) {
            // Its end, which is told next.
        } finally {
            answers.add(END);
        }
    }

    /** Waits until it is connected. */
    void awaitReady(Duration limit) throws CutException {
        var unused = answer(ContenderMain.READY, limit);
    }

    /** Has each thread go through cycles from one {@link System#nanoTime()} to another; does not wait. */
    void begin(long from, long until, long mostCycles) {
        commands.println(from + " " + until + " " + mostCycles);
    }

    /** Waits for the end of what {@link #begin} began. */
    Turn end(Duration limit) throws CutException {
        String[] words = answer(ContenderMain.ANSWER, limit).split(" ", -1);
        List<Long> cycles =
                Stream.of(words[3].split(",", -1)).map(Long::valueOf).toList();
        return new Turn(Long.parseLong(words[1]), Long.parseLong(words[2]), cycles, Latencies.parse(words[4]));
    }

    /** Has the profiler in that JVM do something, in the words of its agent's options. */
    void profile(String command) throws CutException {
        commands.println(ContenderMain.PROFILER + command);
        var unused = answer(ContenderMain.PROFILED, PROFILER);
    }

    /** Waits for the next line that begins so. */
    private String answer(String beginning, Duration limit) throws CutException {
        try {
            for (String line = poll(limit); !line.equals(END); line = poll(limit)) {
                if (line.startsWith(beginning)) {
                    return line;
                }
                if (line.startsWith(ContenderMain.FAILURE)) {
                    throw new CutException("it " + line);
                }
            }
            throw new CutException("its process ended, with " + process.waitFor());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    private String poll(Duration limit) throws InterruptedException, CutException {
        String line = answers.poll(limit.toMillis(), TimeUnit.MILLISECONDS);
        if (line == null) {
            throw new CutException("it did not come to an end within " + limit.toSeconds() + " s");
        }
        return line;
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
