package dev.latchkey;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class DeadlineTest {

    private static final Deadline NOON = new Deadline(Long.MAX_VALUE - 5);

    /** A hundredth of the lease for clocks that run faster, and two milliseconds. */
    @Test
    void givenALease_thenTheHolderBelievesInALittleLess() {
        assertThat(Deadline.ofLease(1_000, Duration.ofSeconds(10)).nanoTime())
                .isEqualTo(1_000 + Duration.ofMillis(9_898).toNanos());
    }

    /** The monotonic clock may begin anywhere, and overflow. */
    @Test
    void givenTwoMomentsAroundTheOverflowOfTheClock_thenTheEarlierIsBefore() {
        Deadline later = new Deadline(NOON.nanoTime() + 10);

        assertThat(NOON.isBefore(later)).isTrue();
        assertThat(later.isBefore(NOON)).isFalse();
        assertThat(NOON.isBefore(NOON)).isFalse();
        assertThat(NOON.isBefore(null)).isFalse();
        assertThat(later.before(Duration.ofNanos(10))).isEqualTo(NOON);
    }

    @Test
    void givenAMomentThatIsHardlyLater_thenItMakesNoDifference() {
        Deadline hardly = new Deadline(NOON.nanoTime() + Deadline.SHORTEST_TTL.toNanos());
        Deadline well = new Deadline(hardly.nanoTime() + 1);

        assertThat(NOON.isWellBefore(hardly)).isFalse();
        assertThat(NOON.isWellBefore(well)).isTrue();
        assertThat(well.isWellBefore(NOON)).isFalse();
        assertThat(NOON.isWellBefore(null)).isFalse();
    }
}
