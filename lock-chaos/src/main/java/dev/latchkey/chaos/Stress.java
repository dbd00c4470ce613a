package dev.latchkey.chaos;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/** Tries Redis, or the judge, with short leases and a fault about every 0.1 s. */
final class Stress {

    private static final String REDIS = "redis";
    private static final String PLANTED = "planted";
    private static final long OPERATIONS = 100_000;

    /** What was asked for; of {@code planted} the operations say nothing. */
    record Arguments(String what, long operations, long seed, Workload workload) {}

    private Stress() {}

    /**
     * Runs.
     *
     * @param args {@code [--sticky] redis [operations [seed]]} or {@code planted [seed]}
     * @return the exit code: 0 if all promises were proven, or all defects found, 1 if not, and 64 for arguments that are wrong
     * @throws IOException if a log cannot be written or read
     * @throws InterruptedException if interrupted
     */
    static int run(List<String> args) throws IOException, InterruptedException {
        Optional<Arguments> parsed = parse(args);
        if (parsed.isEmpty()) {
            System.err.println("usage: ./stress [" + Main.STICKY + "] redis [operations [seed]] | planted [seed]");
            return Main.USAGE;
        }
        Arguments arguments = parsed.orElseThrow();
        boolean isProven = arguments.what().equals(PLANTED) ? areAllFound(arguments.seed()) : isProven(arguments);
        return isProven ? Main.PROVEN : Main.REFUTED;
    }

    /** Empty if they are wrong. */
    static Optional<Arguments> parse(List<String> args) {
        return !args.isEmpty() && args.get(0).equals(Main.STICKY)
                ? parse(args.subList(1, args.size()), Workload.STICKY_STRESS)
                : parse(args, Workload.STRESS);
    }

    private static Optional<Arguments> parse(List<String> args, Workload workload) {
        List<String> numbers = args.stream().skip(1).toList();
        long seed = new SplittableRandom().nextLong(1_000_000);
        try {
            if (!args.isEmpty() && args.get(0).equals(REDIS) && numbers.size() <= 2) {
                long operations = numbers.isEmpty() ? OPERATIONS : Long.parseLong(numbers.get(0));
                long given = numbers.size() < 2 ? seed : Long.parseLong(numbers.get(1));
                return operations > 0
                        ? Optional.of(new Arguments(REDIS, operations, given, workload))
                        : Optional.empty();
            }
            if (!args.isEmpty() && args.get(0).equals(PLANTED) && numbers.size() <= 1) {
                long given = numbers.isEmpty() ? seed : Long.parseLong(numbers.get(0));
                return Optional.of(new Arguments(PLANTED, 0, given, workload));
            }
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
        return Optional.empty();
    }

    private static boolean isProven(Arguments arguments) throws IOException, InterruptedException {
        Path directory = Files.createTempDirectory("latchkey-stress-");
        Trial trial = Trial.stress(
                arguments.workload(), new RapidFaults(arguments.operations(), arguments.seed(), 0), directory);
        return Main.isProven("redis under stress", trial, RedisStores.stressedRedis(arguments.seed()));
    }

    private static boolean areAllFound(long seed) throws IOException, InterruptedException {
        boolean all = true;
        for (PlantedScript planted : PlantedScript.values()) {
            all &= PlantedScripts.ALL.isFound(System.out, planted, seed);
        }
        return all;
    }
}
