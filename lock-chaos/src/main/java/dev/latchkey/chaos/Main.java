package dev.latchkey.chaos;

import dev.latchkey.chaos.election.Elections;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.stream.Stream;

/** Tries stores under chaos: {@code [store …] [minutes] [--seed n] [--sticky]}. */
public final class Main {

    static final int PROVEN = 0;
    static final int REFUTED = 1;
    static final int USAGE = 64;
    private static final int UNAVAILABLE = 69;

    static final String STICKY = "--sticky";
    private static final String SEED = "--seed";
    private static final String PLANTED = "planted";
    private static final String STRESS = "stress";
    private static final String ELECTION = "election";

    /** What was asked for. */
    record Arguments(List<String> stores, Duration length, long seed, Workload workload) {}

    private Main() {}

    /**
     * Runs the trials one after the other. Ends with 0 if all promises were proven, 1 if one was refuted, 64 for arguments that
     * are wrong, and 69 if nothing was refuted and a store could not be tried.
     *
     * @param args names of stores, all unless given; minutes for each, one unless given; a seed; {@code --sticky} for sticky locks among the others; or {@code stress} or
     *     {@code election} and what they take
     * @throws IOException if a log of {@code stress} cannot be written or read
     * @throws InterruptedException if interrupted
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        if (args.length > 0 && args[0].equals(STRESS)) {
            System.exit(Stress.run(List.of(args).subList(1, args.length)));
        }
        if (args.length > 0 && args[0].equals(ELECTION)) {
            System.exit(Elections.run(List.of(args).subList(1, args.length)));
        }
        Optional<Arguments> parsed = parse(List.of(args));
        if (parsed.isEmpty()) {
            System.err.println("usage: ./chaos [store …] [minutes] [" + SEED + " n] [" + STICKY + "]; there are "
                    + Stores.all().keySet() + ", and " + PLANTED + ", which tries the judge with planted defects");
            System.exit(USAGE);
        }
        System.exit(tryAll(parsed.orElseThrow(), known()));
    }

    /** Empty if they are wrong. */
    static Optional<Arguments> parse(List<String> args) {
        List<String> stores = new ArrayList<>();
        double minutes = 1;
        long seed = new SplittableRandom().nextLong(1_000_000);
        Workload workload = Workload.CHAOS;
        try {
            for (int i = 0; i < args.size(); i++) {
                String arg = args.get(i);
                if (arg.equals(SEED) && i + 1 < args.size()) {
                    seed = Long.parseLong(args.get(++i));
                } else if (arg.equals(STICKY)) {
                    workload = Workload.STICKY_CHAOS;
                } else if (known().containsKey(arg)) {
                    stores.add(arg);
                } else {
                    minutes = Double.parseDouble(arg);
                }
            }
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
        if (!(minutes > 0 && minutes <= Duration.ofDays(1).toMinutes())) {
            return Optional.empty();
        }
        List<String> chosen = stores.isEmpty() ? List.copyOf(Stores.all().keySet()) : stores;
        return Optional.of(new Arguments(chosen, Duration.ofMillis(Math.round(minutes * 60_000)), seed, workload));
    }

    private static Map<String, Function<Path, StoreUnderTest>> known() {
        Map<String, Function<Path, StoreUnderTest>> known = new HashMap<>(Stores.all());
        known.put(PLANTED, unused -> RedisStores.redis());
        return known;
    }

    /** Returns the exit code. A store that cannot be tried, for want of its server perhaps, says nothing about the others. */
    static int tryAll(Arguments arguments, Map<String, Function<Path, StoreUnderTest>> known)
            throws InterruptedException {
        boolean refuted = false;
        boolean untried = false;
        for (String store : arguments.stores()) {
            try {
                if (store.equals(PLANTED)) {
                    refuted |= !Planted.areAllFound(System.out, arguments.length(), arguments.seed());
                    continue;
                }
                refuted |= !isProven(store, arguments, Objects.requireNonNull(known.get(store), store));
            } catch (IOException | RuntimeException | AssertionError e) {
                untried = true;
                System.err.println("chaos: " + store + " could not be tried: " + e);
            }
        }
        return refuted ? REFUTED : untried ? UNAVAILABLE : PROVEN;
    }

    private static boolean isProven(String store, Arguments arguments, Function<Path, StoreUnderTest> opening)
            throws IOException, InterruptedException {
        Path directory = Files.createTempDirectory("latchkey-chaos-" + store + "-");
        Trial trial = Trial.chaos(
                arguments.workload(), arguments.length(), arguments.seed(), FaultSchedule.CHANGING, directory);
        return isProven(store, trial, opening.apply(directory));
    }

    /** Runs a trial and prints what came of it. The logs of a store that is refuted stay. */
    static boolean isProven(String name, Trial trial, StoreUnderTest store) throws IOException, InterruptedException {
        try (store) {
            History history = trial.run(store);
            Verdict verdict = Checker.judge(store.promise(), history);
            Report.print(System.out, name, trial, store.promise(), history, verdict);
            if (verdict.isProven()) {
                delete(trial.directory());
            }
            return verdict.isProven();
        }
    }

    static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
