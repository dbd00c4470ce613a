package dev.latchkey.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Which processors clients and servers run on. */
enum Placement {

    /** Wake-ups across processors differ by more than the contenders do; and one that is never idle leaves no doubt. */
    ONE_PROCESSOR("all of it on one processor"),
    ALL_PROCESSORS("on all processors, not pinned");

    /** Of this machine, as this process found it. */
    static final int PROCESSORS = Runtime.getRuntime().availableProcessors();

    private static final int TRIES = 20;
    private static final Optional<String> ALL = affinity();

    private final String title;

    Placement(String title) {
        this.title = title;
    }

    String title() {
        return title;
    }

    /** Whether this machine has the command it takes. */
    static boolean canPin() {
        return ALL.isPresent();
    }

    /** What has a JVM take itself to be there from its start, whether it is moved there sooner or later. */
    List<String> jvmOptions() {
        return this == ONE_PROCESSOR ? List.of("-XX:ActiveProcessorCount=1") : List.of();
    }

    /** Moves this process there, and all that it has started. */
    void enter() {
        ProcessHandle self = ProcessHandle.current();
        Stream.concat(Stream.of(self), self.descendants()).forEach(this::move);
    }

    /**
     * Moves this process to one processor, without what it has started: it only measures and looks on. A byte between two of its
     * threads takes longer if these are on two processors, and so would tell where they are, not how fast the machine is.
     */
    static void pinThisProcess() {
        ONE_PROCESSOR.move(ProcessHandle.current());
    }

    private void move(ProcessHandle process) {
        if (ALL.isEmpty()) {
            return;
        }
        String all = ALL.orElseThrow();
        String processors = this == ONE_PROCESSOR ? all.split("[,-]", 2)[0] : all;
        // It also fails when a thread ends just then.
        boolean isMoved = IntStream.range(0, TRIES)
                .anyMatch(i -> taskset("-a", "-c", "-p", processors, Long.toString(process.pid()))
                                .isPresent()
                        || !process.isAlive());
        if (!isMoved) {
            throw new IllegalStateException(
                    "taskset could not move process " + process.pid() + " to processor " + processors);
        }
    }

    private static Optional<String> affinity() {
        return taskset("-c", "-p", Long.toString(ProcessHandle.current().pid()))
                .map(answer -> answer.substring(answer.lastIndexOf(": ") + 2).strip());
    }

    private static Optional<String> taskset(String... arguments) {
        ProcessBuilder builder = new ProcessBuilder("taskset").redirectErrorStream(true);
        builder.command().addAll(List.of(arguments));
        Process process;
        try {
            process = builder.start();
        } catch (IOException e) {
            return Optional.empty();
        }
        try {
            String answer = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return process.waitFor() == 0 ? Optional.of(answer) : Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException("no answer of taskset", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }
}
