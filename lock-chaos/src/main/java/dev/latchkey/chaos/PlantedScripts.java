package dev.latchkey.chaos;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * Judges the judge of {@code ./stress}: plants a {@link PlantedScript}, and looks whether the rule that it breaks is refuted. Runs are
 * short, and there are as many as are needed.
 *
 * @param oneOf of so many holds about one is spoilt
 * @param limit how long a defect may take to show
 * @param fewestOperations a machine that gets on with less than these in the time has not tried
 * @param operationsOfARun after so many the history is judged
 */
record PlantedScripts(int oneOf, Duration limit, long fewestOperations, long operationsOfARun) {

    /** More is done, and more is planted, where less strikes. */
    private static final int CALM = 150;

    /** As {@code ./stress planted} tries them. */
    static final PlantedScripts ALL = new PlantedScripts(500, Duration.ofMinutes(2), 40_000, 4_000);

    /**
     * Tries one.
     *
     * @param out told of it
     * @param planted the defect
     * @param seed of the faults
     * @return whether it was found
     */
    boolean isFound(PrintStream out, PlantedScript planted, long seed) throws IOException, InterruptedException {
        Path directory = Files.createTempDirectory("latchkey-stress-planted-");
        Path classes = planted.in(directory, oneOf);
        long began = System.nanoTime();
        long operations = 0;
        List<String> offences = List.of();
        for (long run = 0; offences.isEmpty() && isToGoOn(began, operations); run++) {
            RapidFaults faults = new RapidFaults(operationsOfARun, seed + run, CALM);
            Path logs = Files.createDirectory(directory.resolve("run-" + run));
            try (StoreUnderTest store = RedisStores.stressedRedis(seed).findingFirst(classes)) {
                History history = Trial.stress(Workload.STRESS, faults, logs).run(store);
                offences = Checker.judge(store.promise(), history).offences(planted.rule());
            }
            operations += operationsOfARun;
        }
        boolean found = !offences.isEmpty();
        out.printf(
                "%-26s %s  %s refuted %d times in %,d operations, %d s, seed %d%n",
                planted,
                found ? "FOUND " : "MISSED",
                planted.rule(),
                offences.size(),
                operations,
                Duration.ofNanos(System.nanoTime() - began).toSeconds(),
                seed);
        offences.stream().limit(1).forEach(offence -> out.println("    " + offence));
        if (found) {
            Main.delete(directory);
        } else {
            out.println("    the logs: " + directory);
        }
        return found;
    }

    private boolean isToGoOn(long began, long operations) {
        return System.nanoTime() - began < limit.toNanos() || operations < fewestOperations;
    }
}
