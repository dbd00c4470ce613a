package dev.latchkey.memcached;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.memcached.ServerClock.Reading;
import org.junit.jupiter.api.Test;

class KnownTimeTest {

    private static final long SECOND = 1_000_000_000L;

    @Test
    void givenAReadingBehind_whenTheServerWasStopped_thenTheTimeIsCountedFromTheOneBefore() {
        KnownTime time =
                KnownTime.first(reading(1_000, 0)).with(reading(1_005, 5)).with(reading(1_005, 60));

        assertThat(time.secondAt(60 * SECOND)).isEqualTo(1_060);
        assertThat(time.isSetAfter(58 * SECOND)).isFalse();
    }

    /** It differs from the one before, but may have been set long ago. */
    @Test
    void givenALaterSecondAfterALongPause_whenAsked_thenTheClockIsNotKnownToBeRight() {
        KnownTime time = KnownTime.first(reading(1_000, 0)).with(reading(1_010, 60));

        assertThat(time.secondAt(60 * SECOND)).isEqualTo(1_060);
        assertThat(time.isSetAfter(58 * SECOND)).isFalse();
    }

    @Test
    void givenTwoReadingsThatDiffer_whenAsked_thenTheClockWasSetAfterTheFirst() {
        KnownTime time =
                KnownTime.first(reading(1_000, 0)).with(reading(1_060, 60)).with(reading(1_061, 61));

        assertThat(time.isSetAfter(60 * SECOND)).isTrue();
        assertThat(time.isSetAfter(60 * SECOND + 1)).isFalse();
    }

    @Test
    void givenAReadingAhead_whenThisMachineWasSuspended_thenTheTimeIsCountedFromIt() {
        KnownTime time = KnownTime.first(reading(1_000, 0)).with(reading(2_000, 10));

        assertThat(time.secondAt(15 * SECOND)).isEqualTo(2_005);
    }

    /** Or else leases would be too long from then on. */
    @Test
    void givenTheClockIsSetToLess_whenTheServersMachineWasSuspended_thenTheTimeIsCountedAnew() {
        KnownTime time =
                KnownTime.first(reading(1_000, 0)).with(reading(1_010, 60)).with(reading(1_011, 61));

        assertThat(time.secondAt(61 * SECOND)).isEqualTo(1_011);
        assertThat(time.secondAt(71 * SECOND)).isBetween(1_020L, 1_021L);
    }

    @Test
    void givenAReadingMoreThanThreeSecondsLate_whenJudged_thenTheClockIsBehind() {
        KnownTime known = KnownTime.first(reading(1_000, 0));

        assertThat(known.with(reading(1_007, 9)).isBehind()).isFalse();
        assertThat(known.with(reading(1_006, 9)).isBehind()).isTrue();
        assertThat(known.with(reading(1_006, 9)).with(reading(1_010, 10)).isBehind())
                .isFalse();
    }

    @Test
    void givenAnotherRun_whenRead_thenNothingOfTheOneBeforeCounts() {
        KnownTime time = KnownTime.first(reading(1_000, 0))
                .with(reading(1_001, 1))
                .with(new Reading("another", 500, 2 * SECOND, 2 * SECOND));

        assertThat(time.secondAt(2 * SECOND)).isEqualTo(500);
        assertThat(time.isSetAfter(0)).isFalse();
    }

    private static Reading reading(long second, long asked) {
        return new Reading("run", second, asked * SECOND, asked * SECOND);
    }
}
