package dev.latchkey.benchmarks;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Runs benchmarks and prints, for each cycle, how often it fits into a second and its ratio to the floor or peer measured
 * in the same run.
 */
public final class Main {

    /** One line of the table: a cycle of ours, and what it is compared with. */
    private record Comparison(String store, String cycle, String benchmark, String against, String peer) {}

    private static final List<Comparison> COMPARISONS = List.of(
            new Comparison("in-memory", "exclusive", "InMemory.exclusive", "ReentrantLock", "InMemory.jdkExclusive"),
            new Comparison(
                    "in-memory", "shared", "InMemory.shared", "ReentrantReadWriteLock, read", "InMemory.jdkShared"),
            new Comparison(
                    "flock", "exclusive", "Flock.exclusive", "FileChannel.lock + counter", "Flock.bareExclusive"),
            new Comparison("flock", "shared", "Flock.shared", "FileChannel.lock, shared", "Flock.bareShared"));

    /** Stores on a server, each a race of its own with its peers; what follows the name chooses some of its tables. */
    private static final Map<String, Consumer<List<String>>> RACES = new TreeMap<>(Map.of(
            "combined", whole(Combined::run),
            "jdbc", whole(Jdbc::run),
            "memcached", whole(Memcached::run),
            "mongodb", whole(MongoDb::run),
            "postgres-advisory", whole(PostgresAdvisory::run),
            "redis", Redis::run,
            "zookeeper", whole(ZooKeeper::run)));

    private Main() {}

    /**
     * Runs the benchmarks of the stores named, or of all.
     *
     * @param args names of stores
     * @throws RunnerException if a benchmark cannot be run
     */
    public static void main(String[] args) throws RunnerException {
        Consumer<List<String>> race = args.length == 0 ? null : RACES.get(args[0]);
        if (race != null) {
            race.accept(List.of(args).subList(1, args.length));
            return;
        }
        List<Comparison> chosen = COMPARISONS.stream()
                .filter(comparison -> args.length == 0 || List.of(args).contains(comparison.store()))
                .toList();
        if (chosen.isEmpty()) {
            System.err.println("benchmark: no such store; there are "
                    + COMPARISONS.stream().map(Comparison::store).distinct().toList()
                    + ", and each by itself: " + RACES.keySet());
            System.exit(64);
        }
        print(chosen, measure(chosen));
    }

    private static Consumer<List<String>> whole(Runnable race) {
        return tables -> {
            if (!tables.isEmpty()) {
                throw new IllegalArgumentException("its tables cannot be chosen: leave out " + tables);
            }
            race.run();
        };
    }

    private static Map<String, Double> measure(List<Comparison> chosen) throws RunnerException {
        ChainedOptionsBuilder options = new OptionsBuilder()
                .mode(Mode.Throughput)
                .timeUnit(TimeUnit.SECONDS)
                .forks(3)
                .warmupIterations(3)
                .warmupTime(TimeValue.seconds(1))
                .measurementIterations(3)
                .measurementTime(TimeValue.seconds(1))
                .verbosity(VerboseMode.SILENT);
        for (Comparison comparison : chosen) {
            options.include(exactly(comparison.benchmark())).include(exactly(comparison.peer()));
        }
        Collection<RunResult> results = new Runner(options.build()).run();
        Map<String, Double> cyclesPerSecond = new TreeMap<>();
        for (RunResult result : results) {
            String name = result.getParams().getBenchmark();
            String shortName = name.substring(Main.class.getPackageName().length() + 1);
            cyclesPerSecond.put(
                    shortName, result.getPrimaryResult().getStatistics().getPercentile(50));
        }
        return cyclesPerSecond;
    }

    private static String exactly(String benchmark) {
        return "\\." + benchmark.replace(".", "\\.") + "$";
    }

    private static void print(List<Comparison> chosen, Map<String, Double> cyclesPerSecond) {
        System.out.printf(
                "JDK %s, %s %s, %d processors; cycles a second on one thread, median of 9 in 3 processes%n%n",
                Runtime.version(),
                System.getProperty("os.name"),
                System.getProperty("os.arch"),
                Runtime.getRuntime().availableProcessors());
        System.out.println("| store | cycle | Latchkey | against | there | ratio |");
        System.out.println("|---|---|---:|---|---:|---:|");
        for (Comparison comparison : chosen) {
            double ours = cyclesPerSecond.getOrDefault(comparison.benchmark(), Double.NaN);
            double theirs = cyclesPerSecond.getOrDefault(comparison.peer(), Double.NaN);
            System.out.printf(
                    "| %s | %s | %,.0f | %s | %,.0f | %.2f |%n",
                    comparison.store(), comparison.cycle(), ours, comparison.against(), theirs, ours / theirs);
        }
    }
}
