package dev.latchkey.fuzz;

import java.lang.management.ManagementFactory;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * What {@code ./fuzz} runs: schedules, each by a seed of its own, until the time is over. {@code all MINUTES FIRST-SEED}, where each
 * fiftieth seed is one of trees as well, and each fourth one of sticky locks; {@code locks}, {@code trees} or {@code sticky} for one
 * kind alone; {@code locks --seed SEED} shows one
 * schedule step by step.
 */
public final class FuzzRun {

    private static final int TREES_IN = 50;
    private static final int STICKY_IN = 4;

    private final Set<String> problems = new HashSet<>();
    private final long start = System.nanoTime();
    private long schedules;

    private FuzzRun() {}

    /**
     * Runs it.
     *
     * @param args see above
     */
    public static void main(String... args) {
        String kind = args[0].toUpperCase(Locale.ROOT);
        if (args[1].equals("--seed")) {
            Fuzz.Kind one = kind.equals("ALL") ? Fuzz.Kind.LOCKS : Fuzz.Kind.valueOf(kind);
            System.out.println(Fuzz.of(one).apply(-Long.parseLong(args[2])));
            return;
        }
        FuzzRun run = new FuzzRun();
        long end = run.start + (long) (Double.parseDouble(args[1]) * TimeUnit.MINUTES.toNanos(1));
        run.until(end, kind, Long.parseLong(args[2]));
        run.report();
        System.exit(run.problems.isEmpty() ? 0 : 1);
    }

    private void until(long end, String kind, long first) {
        LongFunction<@Nullable String> locks = Fuzz.of(Fuzz.Kind.LOCKS);
        LongFunction<@Nullable String> trees = Fuzz.of(Fuzz.Kind.TREES);
        LongFunction<@Nullable String> sticky = Fuzz.of(Fuzz.Kind.STICKY);
        boolean isAll = kind.equals("ALL");
        for (long seed = first; System.nanoTime() - end < 0; seed++) {
            if (isAll || kind.equals("LOCKS")) {
                run(locks, "locks", seed);
            }
            if (kind.equals("TREES") || (isAll && seed % TREES_IN == 0)) {
                run(trees, "trees", seed);
            }
            if (kind.equals("STICKY") || (isAll && seed % STICKY_IN == 0)) {
                run(sticky, "sticky", seed);
            }
        }
    }

    private void run(LongFunction<@Nullable String> fuzz, String kind, long seed) {
        String problem = fuzz.apply(seed);
        schedules++;
        if (problem != null && problems.add(problem.replaceAll("[0-9a-f]{4}|[0-9]+|(lock|editor) [A-Z]", ""))) {
            System.out.println("after " + schedules + " schedules, " + millis() + " ms: " + kind + ", seed " + seed
                    + ": " + problem);
            System.out.println(fuzz.apply(-seed));
        }
    }

    private long millis() {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
    }

    private void report() {
        System.out.println("CPU s: " + ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() / 1e9);
        System.out.printf(
                "%,d schedules in %.0f s, %,.0f a minute, %s%n",
                schedules,
                millis() / 1e3,
                schedules * 60e3 / millis(),
                problems.isEmpty() ? "all promises kept" : problems.size() + " kinds of violations");
    }
}
