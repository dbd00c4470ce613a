package dev.latchkey.combined;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.combined.VoteCount.Verdict;
import dev.latchkey.combined.VoteCount.Vote;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** One letter per vote: g granted, c conflicted, l lost, f failed, - not yet. */
class VoteCountTest {

    @ParameterizedTest
    @CsvSource({
        "gg-, GRANTED",
        "g--, OPEN",
        "cc-, CONFLICTED",
        "c--, OPEN",
        "ff-, FAILED",
        "ll-, LOST",
        "gc-, OPEN",
        "gf-, OPEN",
        "cf-, OPEN",
        "gcg, GRANTED",
        "lfg, OPEN",
        "---, OPEN",
    })
    void givenThreeMembers_whenNotAllHaveVoted_thenDecidedAsSoonAsNothingCanChangeIt(String votes, Verdict verdict) {
        assertThat(VoteCount.early(votes(votes), new ConsensusStrategy(), 3)).isEqualTo(verdict);
    }

    @ParameterizedTest
    @CsvSource({
        "gc-, CONFLICTED", "gcf, CONFLICTED", "g--, FAILED", "---, FAILED", "fff, FAILED", "cff, FAILED",
        "ccf, CONFLICTED", "glf, FAILED", "glc, CONFLICTED", "lcf, FAILED", "gg-, GRANTED", "lcc, CONFLICTED",
    })
    void givenThreeMembers_whenNoMoreVotesCome_thenAFailureIsNoConflict(String votes, Verdict verdict) {
        assertThat(VoteCount.last(votes(votes), new ConsensusStrategy(), 3)).isEqualTo(verdict);
    }

    @ParameterizedTest
    @CsvSource({"gg, GRANTED", "g-, OPEN", "c-, CONFLICTED", "f-, FAILED", "l-, LOST"})
    void givenUnanimity_whenOneIsMissing_thenNotGranted(String votes, Verdict verdict) {
        assertThat(VoteCount.early(votes(votes), new UnanimousStrategy(), 2)).isEqualTo(verdict);
    }

    /** The tables of the strategies, E1 to E6 of the catalogue. */
    @ParameterizedTest
    @CsvSource({"1,1,0", "2,2,0", "3,2,1", "4,3,1", "5,3,2", "6,4,2", "7,4,3"})
    void givenConsensus_thenItNeedsMoreThanHalfAndSurvivesTheRest(int total, int needed, int survived) {
        Strategy consensus = new ConsensusStrategy();

        assertThat(VoteCount.quorum(consensus, total)).isEqualTo(needed);
        assertThat(consensus.isMet(needed - 1, total)).isFalse();
        assertThat(consensus.canBeMet(survived, total)).isTrue();
        assertThat(consensus.canBeMet(survived + 1, total)).isFalse();
    }

    private static List<Vote> votes(String letters) {
        return letters.chars()
                .mapToObj(letter -> (char) letter)
                .flatMap(letter -> Stream.of(Vote.values())
                        .filter(vote -> Character.toLowerCase(vote.name().charAt(0)) == letter))
                .toList();
    }
}
