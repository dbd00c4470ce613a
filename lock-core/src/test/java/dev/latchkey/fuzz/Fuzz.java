package dev.latchkey.fuzz;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Runs schedules, each by a seed of its own, until the time is over or one breaks a promise: {@code Fuzz MINUTES FIRST-SEED}, or
 * {@code Fuzz --seed SEED} to see one schedule step by step.
 */
public final class Fuzz implements LongFunction<@Nullable String> {

    private final World world = new World();
    private @Nullable List<String> trace;

    /** For {@link #inSimulation()}. */
    public Fuzz() {}

    /** A fuzzer in a world of its own: a seed is applied to it, and gives what went wrong, or null. */
    @SuppressWarnings("unchecked")
    static LongFunction<@Nullable String> inSimulation() {
        try {
            return (LongFunction<@Nullable String>) new Simulation(Fuzz.class.getClassLoader())
                    .loadClass(Fuzz.class.getName())
                    .getDeclaredConstructor()
                    .newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Runs one schedule; a negative seed is that of its opposite, with all its steps. */
    @Override
    public @Nullable String apply(long seed) {
        trace = seed < 0 ? new ArrayList<>() : null;
        world.reset(Math.abs(seed), trace);
        try {
            world.run(new Schedule(world));
            return trace == null ? null : String.join("\n", trace);
        } catch (Throwable e) {
            if (trace == null) {
                if (!(e instanceof Violation)) {
                    e.printStackTrace();
                }
                return e.toString();
            }
            var stack = new java.io.StringWriter();
            e.printStackTrace(new java.io.PrintWriter(stack));
            return String.join("\n", trace) + "\n" + stack;
        }
    }

    /**
     * Runs it.
     *
     * @param args see above
     */
    public static void main(String... args) {
        LongFunction<@Nullable String> fuzz = inSimulation();
        if (args[0].equals("--seed")) {
            System.out.println(fuzz.apply(-Long.parseLong(args[1])));
            return;
        }
        long first = Long.parseLong(args[1]);
        long start = System.nanoTime();
        long end = start + (long) (Double.parseDouble(args[0]) * TimeUnit.MINUTES.toNanos(1));
        long seed = first;
        Set<String> problems = new HashSet<>();
        while (System.nanoTime() < end) {
            String problem = fuzz.apply(seed);
            if (problem != null && problems.add(problem.replaceAll("[0-9]+|lock [A-Z]", ""))) {
                System.out.println("after " + (seed - first + 1) + " schedules, "
                        + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start) + " ms: seed " + seed + ": "
                        + problem);
                System.out.println(fuzz.apply(-seed));
            }
            seed++;
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        System.out.println("CPU s: "
                + java.lang.management.ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() / 1e9);
        System.out.printf(
                "%,d schedules in %.0f s, %,.0f a minute, %s%n",
                seed - first,
                seconds,
                (seed - first) / seconds * 60,
                problems.isEmpty() ? "all promises kept" : problems.size() + " kinds of violations");
        System.exit(problems.isEmpty() ? 0 : 1);
    }
}
