package dev.latchkey.chaos;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * Writes down when threads of this process, of its workers or of its servers were ready to run and had no processor: Linux counts
 * that for each thread. {@link Stalls} cannot see it, for who sleeps most of the time is served first when it wakes.
 */
final class CpuStarvation {

    private static final String MACHINE = "machine";
    private static final Path PROCESSES = Path.of("/proc");

    private static final long TICK_NANOS = 200_000_000;
    private static final long STARVED_NANOS = 100_000_000;
    /** To look for processes costs more than to look at them; of a new one nothing is known until it was looked at twice. */
    private static final int TICKS_PER_SEARCH = 5;

    private final EventLog log;
    private Map<Path, Long> waited = new HashMap<>();
    private List<Path> processes = List.of();

    private CpuStarvation(EventLog log) {
        this.log = log;
    }

    /** Does nothing on systems that do not count it. */
    static void watch(EventLog log) {
        Daemon.start("starvation", new CpuStarvation(log)::run);
    }

    private void run() {
        long last = System.nanoTime();
        for (long tick = 0; log.isOpen(); tick++) {
            if (tick % TICKS_PER_SEARCH == 0) {
                processes = ours();
            }
            LockSupport.parkNanos(TICK_NANOS);
            long longest = longestWait();
            long now = System.nanoTime();
            if (longest > STARVED_NANOS) {
                log.stalled(MACHINE, Math.min(last, now - longest), now);
            }
            last = now;
        }
    }

    private static List<Path> ours() {
        ProcessHandle self = ProcessHandle.current();
        try (Stream<ProcessHandle> descendants = self.descendants()) {
            return Stream.concat(Stream.of(self), descendants)
                    .map(process -> PROCESSES.resolve(process.pid() + "/task"))
                    .toList();
        }
    }

    /** Of one thread since the last look. */
    private long longestWait() {
        Map<Path, Long> now = new HashMap<>();
        processes.forEach(process -> addThreads(process, now));
        long longest = 0;
        for (Map.Entry<Path, Long> thread : now.entrySet()) {
            long before = waited.getOrDefault(thread.getKey(), thread.getValue());
            longest = Math.max(longest, thread.getValue() - before);
        }
        waited = now;
        return longest;
    }

    private static void addThreads(Path process, Map<Path, Long> waited) {
        try (Stream<Path> threads = Files.list(process)) {
            for (Path thread : threads.toList()) {
                String[] numbers = Files.readString(thread.resolve("schedstat")).split(" ", -1);
                waited.put(thread, Long.parseLong(numbers[1]));
            }
        } catch (IOException | UncheckedIOException e) {
            // It has ended meanwhile.
        }
    }
}
