package dev.latchkey.chaos.election;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.testkit.TimeLimits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/** The short form of {@code ./chaos election}, or a longer one with {@code -Dlatchkey.election.terms=1000}. */
class ElectionIT {

    private static final int TERMS = Integer.getInteger("latchkey.election.terms", 40);
    private static final long SEED = Long.getLong("latchkey.election.seed", new Random().nextInt(1_000_000));

    /** For the round trip of whoever comes next, on a busy machine. */
    private static final Duration ROUND_TRIP = TimeLimits.scaled(Duration.ofSeconds(2));

    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    Path directory;

    @Test
    void givenLeadersAreKilledFrozenAndCutOff_whenOthersLead_thenNeverTwoAtOnceAndInTime() throws Exception {
        try (ElectionTrial trial = new ElectionTrial(directory, SEED, CandidateKind.ELECTED)) {
            ElectionHistory history = trial.run(TERMS);

            System.out.println("election with seed " + SEED + "\n" + history.figures());
            assertThat(history.offences()).as("seed " + SEED).isEmpty();
            assertThat(history.slowerThan(
                            ElectionFault.KILL,
                            ElectionTrial.TTL.plus(ROUND_TRIP).toNanos()))
                    .isEmpty();
            assertThat(history.slowerThan(ElectionFault.RESIGN, ROUND_TRIP.toNanos()))
                    .isEmpty();
        }
    }

    @Test
    void givenCandidatesThatBelieveWhatTheStoreSaidLast_whenCutOff_thenTwoLeadersAreSeen() throws Exception {
        try (ElectionTrial trial = new ElectionTrial(directory, SEED, CandidateKind.NAIVE)) {
            ElectionHistory history = trial.run(TERMS);

            assertThat(history.offences()).anyMatch(offence -> offence.startsWith("two leaders"));
        }
    }
}
