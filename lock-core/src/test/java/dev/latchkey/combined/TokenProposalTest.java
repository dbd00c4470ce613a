package dev.latchkey.combined;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tokens are microseconds of a member's clock, and begin here with a million. */
class TokenProposalTest {

    private static final long SENT = TimeUnit.SECONDS.toNanos(500);

    private final TokenProposal proposal = new TokenProposal();

    @Test
    void givenNothingLearnt_whenAsked_thenThereIsNone() {
        assertThat(proposal.at(SENT)).isZero();
    }

    @Test
    void givenATokenWasGiven_whenAskedAtOnce_thenAheadOfItByAMillisecondAndTheTimeOfTheAnswer() {
        proposal.learn(0, 1_000_000, SENT, SENT + TimeUnit.MILLISECONDS.toNanos(3));

        assertThat(proposal.at(SENT)).isEqualTo(1_004_000);
    }

    @Test
    void givenATokenWasGiven_whenTimePasses_thenItGrowsLikeAClockAndFallsBehindALittle() {
        proposal.learn(0, 1_000_000, SENT, SENT);

        assertThat(proposal.at(SENT + TimeUnit.MICROSECONDS.toNanos(2_000))).isEqualTo(1_003_000);
        assertThat(proposal.at(SENT + TimeUnit.MICROSECONDS.toNanos(65_536L * 10)))
                .isEqualTo(1_001_000 + 65_536 * 10 - 10);
    }

    @Test
    void givenAnAnswerThatTookLong_whenLearnt_thenItRunsNoMoreThanATenthOfASecondAhead() {
        proposal.learn(0, 1_000_000, SENT, SENT + TimeUnit.SECONDS.toNanos(5));

        assertThat(proposal.at(SENT)).isEqualTo(1_101_000);
    }

    /** One member is behind the others by more than it may follow: running further ahead would not help it. */
    @Test
    void givenTheProposalItselfWasTheGreatest_whenLearnt_thenNothingChanges() {
        proposal.learn(0, 1_000_000, SENT, SENT);

        proposal.learn(1_001_000, 1_001_000, SENT, SENT);

        assertThat(proposal.at(SENT)).isEqualTo(1_001_000);
    }

    @Test
    void givenAMemberGaveMore_whenLearnt_thenItStartsFromThat() {
        proposal.learn(0, 1_000_000, SENT, SENT);

        proposal.learn(1_001_000, 3_000_000, SENT + 1_000, SENT + 1_000);

        assertThat(proposal.at(SENT + 1_000)).isEqualTo(3_001_000);
    }
}
