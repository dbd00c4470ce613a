package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LastReleasedNodesTest {

    private static final String LINE = "/latchkey/report";

    private final LastReleasedNodes trail = new LastReleasedNodes();

    @Test
    void givenNothingWent_thenNothingIsKnown() {
        assertThat(trail.leadsTo(LINE, 1, 101)).isFalse();
        assertThat(trail.isLikelyNext(LINE)).isFalse();
    }

    @Test
    void givenANodeWent_whenTheNextHasTheNextNumber_thenNobodyIsBeforeItAndTheOneAfterNeedNotLook() {
        trail.gone(LINE, 0, 100);

        assertThat(trail.isLikelyNext(LINE)).isFalse();
        assertThat(trail.leadsTo(LINE, 1, 102)).isTrue();
        trail.gone(LINE, 1, 102);
        assertThat(trail.isLikelyNext(LINE)).isTrue();
    }

    @Test
    void givenANodeWent_thenTheNumberOfTheNextIsKnown() {
        assertThat(trail.next(LINE)).isEqualTo(-1);

        trail.gone(LINE, 4, 100);

        assertThat(trail.next(LINE)).isEqualTo(5);
    }

    @Test
    void givenOthersCameInBetween_thenItHasToLookUntilItIsAloneAgain() {
        trail.gone(LINE, 4, 100);
        assertThat(trail.leadsTo(LINE, 5, 102)).isTrue();
        trail.gone(LINE, 5, 102);

        assertThat(trail.leadsTo(LINE, 7, 106)).isFalse();

        trail.gone(LINE, 7, 106);
        assertThat(trail.isLikelyNext(LINE)).isFalse();
        assertThat(trail.leadsTo(LINE, 8, 108)).isTrue();
    }

    /** Its end, that of the line, the line anew, a node with each number from zero on, and the new one. */
    @Test
    void givenTheLineMayHaveBeenMadeAnew_whenTheNextHasTheNextNumberAllTheSame_thenItIsNotBelieved() {
        int number = 3;
        trail.gone(LINE, number, 100);

        assertThat(trail.leadsTo(LINE, number + 1, 100 + 3 + (number + 1) + 1)).isFalse();
    }

    @Test
    void givenANewLeaderSince_whenTheNextHasTheNextNumber_thenItIsNotBelieved() {
        trail.gone(LINE, 3, 0x1_0000_0010L);

        assertThat(trail.leadsTo(LINE, 4, 0x2_0000_0001L)).isFalse();
    }

    @Test
    void givenManyLines_thenOnlyTheLastThousandAreKnown() {
        for (int i = 0; i <= 1_000; i++) {
            trail.gone(LINE + i, 0, 100);
        }

        assertThat(trail.leadsTo(LINE + 0, 1, 102)).isFalse();
        assertThat(trail.leadsTo(LINE + 1_000, 1, 102)).isTrue();
    }
}
