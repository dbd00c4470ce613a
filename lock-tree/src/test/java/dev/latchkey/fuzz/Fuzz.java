package dev.latchkey.fuzz;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Runs schedules, each by a seed of its own, until the time is over or one breaks a promise: {@code Fuzz KINDS MINUTES FIRST-SEED},
 * or {@code Fuzz KINDS --seed SEED} to see one schedule step by step.
 */
public final class Fuzz implements LongFunction<@Nullable String> {

    /** What a schedule is about. */
    enum Kind {
        LOCKS,
        TREES;

        World.Rules begin(World world) {
            return this == LOCKS ? new Schedule(world) : new TreeSchedule(world);
        }
    }

    private final World world = new World();
    private final Kind kind;
    private @Nullable List<String> trace;

    /**
     * For {@link #of}.
     *
     * @param kind its name, for this is called from another world
     */
    public Fuzz(String kind) {
        this.kind = Kind.valueOf(kind);
    }

    /** A fuzzer in a world of its own: a seed is applied to it, and gives what went wrong, or null. */
    @SuppressWarnings("unchecked")
    static LongFunction<@Nullable String> of(Kind kind) {
        try {
            return (LongFunction<@Nullable String>) new Simulation(Fuzz.class.getClassLoader())
                    .loadClass(Fuzz.class.getName())
                    .getDeclaredConstructor(String.class)
                    .newInstance(kind.name());
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
            world.run(kind.begin(world));
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
}
