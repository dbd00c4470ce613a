package dev.latchkey.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Contenders of one JVM that take turns, so that whatever else the machine does happens to all of them; the median of the
 * turns counts. The first of them is Latchkey.
 *
 * @param threads how many run each contender's cycle, on one resource
 */
record Race(String title, Map<String, Contender.Cycles> contenders, int threads) {

    private static final int WARM_UPS = 3;
    private static final int TURNS = 7;
    private static final long TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(800);

    /** What one contender has done. */
    private record Tally(Latencies latencies, List<Double> speeds, List<Double> fairness) {

        Tally() {
            this(new Latencies(), new ArrayList<>(), new ArrayList<>());
        }

        void add(List<Latencies> turn) {
            List<Long> counts = turn.stream().map(Latencies::count).sorted().toList();
            long most = counts.get(counts.size() - 1);
            turn.forEach(latencies::add);
            speeds.add(counts.stream().mapToLong(Long::longValue).sum() * 1e9 / TURN_NANOS);
            fairness.add(most == 0 ? 0 : (double) counts.get(0) / most);
        }

        static double median(List<Double> values) {
            return values.stream().sorted().toList().get(values.size() / 2);
        }
    }

    static void printHead(String servers) {
        System.out.printf(
                "JDK %s, %s %s, %d processors, %s; medians of %d turns of %d ms, in turn%n",
                Runtime.version(),
                System.getProperty("os.name"),
                System.getProperty("os.arch"),
                Runtime.getRuntime().availableProcessors(),
                servers,
                TURNS,
                TimeUnit.NANOSECONDS.toMillis(TURN_NANOS));
    }

    void print() {
        Map<String, Tally> tallies = run();
        double ours = Tally.median(tallies.values().iterator().next().speeds());
        System.out.printf("%n%s%n%n", title);
        System.out.println("| lock | cycles/s | Latchkey is | p50 µs | p99 µs | max µs | fairness |");
        System.out.println("|---|---:|---:|---:|---:|---:|---:|");
        tallies.forEach((name, tally) -> {
            double speed = Tally.median(tally.speeds());
            System.out.printf(
                    "| %s | %,.0f | %.2f× | %,.0f | %,.0f | %,.0f | %.2f |%n",
                    name,
                    speed,
                    ours / speed,
                    tally.latencies().micros(0.5),
                    tally.latencies().micros(0.99),
                    tally.latencies().longestMicros(),
                    Tally.median(tally.fairness()));
        });
    }

    private Map<String, Tally> run() {
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            Map<String, Tally> tallies = new LinkedHashMap<>();
            contenders.keySet().forEach(name -> tallies.put(name, new Tally()));
            for (int turn = 0; turn < WARM_UPS + TURNS; turn++) {
                for (Map.Entry<String, Contender.Cycles> contender : contenders.entrySet()) {
                    List<Latencies> done = turn(executor, contender.getValue());
                    if (turn >= WARM_UPS) {
                        Objects.requireNonNull(tallies.get(contender.getKey())).add(done);
                    }
                }
            }
            return tallies;
        } finally {
            executor.shutdownNow();
        }
    }

    private List<Latencies> turn(ExecutorService executor, Contender.Cycles cycles) {
        long end = System.nanoTime() + TURN_NANOS;
        List<Future<Latencies>> running = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            Callable<Boolean> cycle = cycles.on("benchmark-" + threads);
            running.add(executor.submit(() -> cyclesUntil(end, cycle)));
        }
        List<Latencies> done = new ArrayList<>();
        for (Future<Latencies> one : running) {
            try {
                done.add(one.get());
            } catch (ExecutionException e) {
                throw new IllegalStateException("a contender failed", e.getCause());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted", e);
            }
        }
        return done;
    }

    private static Latencies cyclesUntil(long end, Callable<Boolean> cycle) throws Exception {
        Latencies latencies = new Latencies();
        long start = System.nanoTime();
        while (start - end < 0) {
            if (!cycle.call()) {
                throw new IllegalStateException("a lock was lost in a cycle");
            }
            long now = System.nanoTime();
            latencies.add(now - start);
            start = now;
        }
        return latencies;
    }
}
