package dev.latchkey.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;

/** The {@code main} of a {@link ContenderProcess}. */
final class ContenderMain {

    static final String ANSWER = "turn ";
    static final String READY = "ready";

    private static final String RESOURCE = "benchmark";

    private ContenderMain() {}

    /**
     * Takes turns until the end of its input.
     *
     * @param args the contender, host, port and number of threads
     * @throws Exception if a cycle fails
     */
    public static void main(String[] args) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err);
        Contender.Cycles cycles = Contender.valueOf(args[0]).open(args[1], Integer.parseInt(args[2]));
        int threads = Integer.parseInt(args[3]);
        List<Callable<Boolean>> perThread = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            perThread.add(cycles.on(RESOURCE));
        }
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        BufferedReader turns = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        out.println(READY);
        for (String line = turns.readLine(); line != null; line = turns.readLine()) {
            String[] times = line.split(" ", -1);
            out.println(ANSWER + turn(pool, perThread, Long.parseLong(times[0]), Long.parseLong(times[1])));
        }
        System.exit(0);
    }

    private static String turn(ExecutorService pool, List<Callable<Boolean>> cycles, long from, long until)
            throws Exception {
        long cpuBefore = cpuNanos();
        List<Future<Latencies>> running = new ArrayList<>();
        for (Callable<Boolean> cycle : cycles) {
            running.add(pool.submit(() -> repeat(cycle, from, until)));
        }
        Latencies all = new Latencies();
        List<Long> counts = new ArrayList<>();
        for (Future<Latencies> one : running) {
            all.add(one.get());
            counts.add(one.get().count());
        }
        long cpu = cpuNanos() - cpuBefore;
        return cpu + " " + counts.stream().map(String::valueOf).collect(Collectors.joining(",")) + " " + all.text();
    }

    /** What this process has taken of the processor so far. */
    private static long cpuNanos() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    private static Latencies repeat(Callable<Boolean> cycle, long from, long until) throws Exception {
        Latencies latencies = new Latencies();
        while (System.nanoTime() < from) {
            Thread.sleep(1);
        }
        for (long start = System.nanoTime(); start < until; start = System.nanoTime()) {
            if (!cycle.call()) {
                throw new IllegalStateException("a lock was lost in the middle of a benchmark");
            }
            latencies.add(System.nanoTime() - start);
        }
        return latencies;
    }
}
