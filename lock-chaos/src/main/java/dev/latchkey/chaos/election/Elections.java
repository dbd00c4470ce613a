package dev.latchkey.chaos.election;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;

/** {@code ./chaos election [terms [seed]]}, and {@code ./chaos election planted [seed]}. */
public final class Elections {

    private static final String PLANTED = "planted";
    private static final int TERMS = 1_000;
    private static final int SHOWN = 10;
    private static final int USAGE = 64;

    private Elections() {}

    /**
     * Runs a trial and prints what came of it.
     *
     * @param args how many terms, 1,000 unless given, or {@code planted}; and a seed
     * @return the exit code: 0 if there were never two leaders, or they were found where a defect was planted; else 1, and 64 for
     *     arguments that are wrong
     * @throws IOException if no directory can be made
     * @throws InterruptedException if interrupted
     */
    public static int run(List<String> args) throws IOException, InterruptedException {
        boolean isPlanted = !args.isEmpty() && args.get(0).equals(PLANTED);
        int terms;
        long seed;
        try {
            terms = isPlanted || args.isEmpty() ? TERMS : Integer.parseInt(args.get(0));
            seed = args.size() < 2 ? new SplittableRandom().nextLong(1_000_000) : Long.parseLong(args.get(1));
        } catch (NumberFormatException e) {
            System.err.println("usage: ./chaos election [terms [seed]] | planted [seed]");
            return USAGE;
        }
        CandidateKind kind = isPlanted ? CandidateKind.NAIVE : CandidateKind.ELECTED;
        Path directory = Files.createTempDirectory("latchkey-election-");
        try (ElectionTrial trial = new ElectionTrial(directory, seed, kind)) {
            ElectionHistory history = trial.run(terms);
            List<String> offences = history.offences();
            System.out.printf(
                    "%nelection on redis: %,d terms with leases of %d ms, seed %d: %s%n%s%n",
                    history.terms().size(),
                    ElectionTrial.TTL.toMillis(),
                    seed,
                    offences.isEmpty() ? "never two leaders, and every number greater than those before" : "REFUTED",
                    history.figures());
            offences.stream().limit(SHOWN).forEach(offence -> System.out.println("  - " + offence));
            System.out.println("  what the processes printed: " + directory);
            return offences.isEmpty() == isPlanted ? 1 : 0;
        }
    }
}
