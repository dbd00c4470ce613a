package dev.latchkey;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class BackoffTest {

    @Test
    void givenNoHint_thenPausesGrowToTheirLimitWithJitter() {
        for (int run = 0; run < 1_000; run++) {
            Backoff backoff = new Backoff();
            long bound = Duration.ofMillis(5).toNanos();
            for (int i = 0; i < 12; i++) {
                assertThat(backoff.nextNanos(Duration.ZERO)).isBetween(bound / 2, bound);
                bound = Math.min(2 * bound, Duration.ofMillis(200).toNanos());
            }
        }
    }

    @Test
    void givenAnEarlierHint_thenThePauseEndsJustAfterIt() {
        assertThat(new Backoff().nextNanos(Duration.ofMillis(1)))
                .isEqualTo(Duration.ofMillis(2).toNanos());
    }

    @Test
    void givenALaterHint_thenItDoesNotLengthenThePause() {
        assertThat(new Backoff().nextNanos(Duration.ofHours(1)))
                .isLessThanOrEqualTo(Duration.ofMillis(5).toNanos());
    }
}
