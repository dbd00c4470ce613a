package dev.latchkey.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import dev.latchkey.benchmarks.Contender.Mode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import one.profiler.AsyncProfiler;
import org.jspecify.annotations.Nullable;

/** The {@code main} of a {@link ContenderProcess}. */
final class ContenderMain {

    static final String ANSWER = "turn ";
    static final String READY = "ready";
    static final String FAILURE = "failed ";

    /** Begins a line with a command of the profiler instead of a turn. */
    static final String PROFILER = "profiler ";

    static final String PROFILED = "profiled";

    private final int stride;
    private final @Nullable Witness witness;

    private ContenderMain(int stride, @Nullable Witness witness) {
        this.stride = stride;
        this.witness = witness;
    }

    /**
     * Takes turns until the end of its input.
     *
     * @param args the contest, the contender, its address, the number of threads, the stride and the witness's file
     */
    public static void main(String[] args) {
        PrintStream out = System.out;
        System.setOut(System.err);
        int exit = 0;
        try {
            run(args, out);
        } catch (Exception e) {
            e.printStackTrace();
            out.println(FAILURE + e);
            exit = 1;
        }
        // The clients' own threads would keep it.
        Runtime.getRuntime().halt(exit);
    }

    private static void run(String[] args, PrintStream out) throws Exception {
        Contender contender = Contest.named(args[0]).contender(args[1]);
        Contender.Client client = contender.opener().open(args[2]);
        int threads = Integer.parseInt(args[3]);
        boolean isWatched = contender.mode() == Mode.EXCLUSIVE && !args[5].isEmpty();
        var main = new ContenderMain(Integer.parseInt(args[4]), isWatched ? Witness.of(Path.of(args[5])) : null);
        List<Cycle> cycles = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            cycles.add(client.on("benchmark of " + contender.title()));
        }
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        BufferedReader turns = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        out.println(READY);
        for (String line = turns.readLine(); line != null; line = turns.readLine()) {
            if (line.startsWith(PROFILER)) {
                var unused = AsyncProfiler.getInstance().execute(line.substring(PROFILER.length()));
                out.println(PROFILED);
                continue;
            }
            String[] words = line.split(" ", -1);
            out.println(ANSWER
                    + main.turn(
                            pool,
                            cycles,
                            Long.parseLong(words[0]),
                            Long.parseLong(words[1]),
                            Long.parseLong(words[2])));
        }
    }

    private String turn(ExecutorService pool, List<Cycle> cycles, long from, long until, long limit) throws Exception {
        long cpuBefore = cpuNanos();
        long overlapsBefore = overlaps();
        List<Future<Latencies>> running = new ArrayList<>();
        for (Cycle cycle : cycles) {
            running.add(pool.submit(() -> repeat(cycle, from, until, limit / stride)));
        }
        Latencies all = new Latencies();
        List<Long> counts = new ArrayList<>();
        for (Future<Latencies> one : running) {
            all.add(one.get());
            counts.add(one.get().count() * stride);
        }
        long cpu = cpuNanos() - cpuBefore;
        awaitCompiled();
        String perThread = counts.stream().map(String::valueOf).collect(Collectors.joining(","));
        return cpu + " " + (overlaps() - overlapsBefore) + " " + perThread + " " + all.text();
    }

    /** Whoever comes next has the machine for itself only once this JVM compiles nothing more. */
    private static void awaitCompiled() throws InterruptedException {
        CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(3);
        long before;
        do {
            before = compiler.getTotalCompilationTime();
            Thread.sleep(100);
        } while (compiler.getTotalCompilationTime() > before && System.nanoTime() < end);
    }

    /** What this process has taken of the processor so far. */
    private static long cpuNanos() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    private long overlaps() {
        return witness == null ? 0 : witness.overlaps();
    }

    private Latencies repeat(Cycle cycle, long from, long until, long strides) throws Exception {
        Latencies latencies = new Latencies();
        while (System.nanoTime() < from) {
            Thread.sleep(1);
        }
        long end = System.nanoTime();
        for (long done = 0; end < until && done < strides; done++) {
            cycle.prepare();
            long start = System.nanoTime();
            for (int i = 0; i < stride; i++) {
                go(cycle);
            }
            end = System.nanoTime();
            latencies.add((end - start) / stride);
        }
        return latencies;
    }

    private void go(Cycle cycle) throws Exception {
        cycle.take();
        if (witness != null) {
            witness.enter();
            witness.leave();
        }
        if (!cycle.giveUp()) {
            throw new IllegalStateException("a lock was lost in the middle of a benchmark");
        }
    }
}
