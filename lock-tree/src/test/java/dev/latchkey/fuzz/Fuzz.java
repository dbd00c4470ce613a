package dev.latchkey.fuzz;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
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
        TREES,
        STICKY;

        World.Rules begin(World world, Plant plant) {
            return switch (this) {
                case LOCKS -> new Schedule(world);
                case TREES -> new TreeSchedule(world);
                case STICKY -> new StickySchedule(world, plant.begin());
            };
        }
    }

    /** What is wrong with the store of sticky locks, for who judges the judge. */
    enum Plant {
        NOTHING,
        /** Its leases end sooner than it says. */
        SHORT_LEASES,
        /** It grants tokens that an earlier holder may have used. */
        UNRESERVED_TOKENS,
        /** It recalls nothing. */
        NO_RECALLS;

        RecallBorder.Plant begin() {
            return switch (this) {
                case NOTHING -> RecallBorder.Plant.NOTHING;
                case SHORT_LEASES -> new RecallBorder.Plant(2, Optional.empty(), true);
                case UNRESERVED_TOKENS -> new RecallBorder.Plant(1, Optional.of(new DenseTokens()), true);
                case NO_RECALLS -> new RecallBorder.Plant(1, Optional.empty(), false);
            };
        }
    }

    private final World world = new World();
    private final Kind kind;
    private final Plant plant;
    private @Nullable List<String> trace;

    /**
     * For {@link #of}.
     *
     * @param kind its name, for this is called from another world
     * @param plant likewise
     */
    public Fuzz(String kind, String plant) {
        this.kind = Kind.valueOf(kind);
        this.plant = Plant.valueOf(plant);
    }

    /** A fuzzer in a world of its own: a seed is applied to it, and gives what went wrong, or null. */
    static LongFunction<@Nullable String> of(Kind kind) {
        return of(kind, Plant.NOTHING);
    }

    @SuppressWarnings("unchecked")
    static LongFunction<@Nullable String> of(Kind kind, Plant plant) {
        try {
            return (LongFunction<@Nullable String>) new Simulation(Fuzz.class.getClassLoader())
                    .loadClass(Fuzz.class.getName())
                    .getDeclaredConstructor(String.class, String.class)
                    .newInstance(kind.name(), plant.name());
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
            world.run(kind.begin(world, plant));
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
