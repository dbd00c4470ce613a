package dev.latchkey.chaos;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Judges the judge: plants one {@link Defect} after the other, and looks whether the rule that it breaks is refuted. */
final class Planted {

    private Planted() {}

    /**
     * Tries all defects.
     *
     * @param out told of each
     * @param length how long each may take to show
     * @param seed of the faults
     * @return whether all were found
     */
    static boolean areAllFound(PrintStream out, Duration length, long seed) throws IOException, InterruptedException {
        boolean all = true;
        for (Defect defect : Defect.values()) {
            all &= isFound(out, defect, length, seed);
        }
        return all;
    }

    private static String after(History history, long first) {
        return first == Hold.NEVER
                ? ""
                : " after %.0f s".formatted((first - Times.of(history).origin()) / 1e9);
    }

    static boolean isFound(PrintStream out, Defect defect, Duration length, long seed)
            throws IOException, InterruptedException {
        Path directory = Files.createTempDirectory("latchkey-chaos-planted-");
        try (StoreUnderTest backing = RedisStores.planted(defect)) {
            Trial trial = Trial.chaos(Workload.CHAOS, length, seed, FaultSchedule.FAIR, directory);
            History history = trial.run(backing);
            Verdict verdict = Checker.judge(backing.promise(), history);
            List<String> offences = verdict.offences(defect.rule());
            boolean found = !offences.isEmpty();
            out.printf(
                    "%-26s %s  %s refuted%s, %d times in %d holds, %d s%n",
                    defect,
                    found ? "FOUND " : "MISSED",
                    defect.rule(),
                    after(history, verdict.firstOffence(defect.rule())),
                    offences.size(),
                    history.holds().size(),
                    length.toSeconds());
            offences.stream().limit(1).forEach(offence -> out.println("    " + offence));
            if (found) {
                Main.delete(directory);
            } else {
                Report.print(out, defect.toString(), trial, backing.promise(), history, verdict);
            }
            return found;
        }
    }
}
