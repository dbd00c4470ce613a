package dev.latchkey;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.AcquireLoop.Backoff;
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
                bound = Math.min(2 * bound, Duration.ofSeconds(1).toNanos());
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

    @Test
    void givenTold_thenThePauseIsLongButEndsJustAfterAHint() {
        Backoff backoff = new Backoff();
        backoff.nextNanos(Duration.ZERO);
        backoff.nextNanos(Duration.ZERO);

        assertThat(backoff.watchedNanos(Duration.ZERO))
                .isBetween(
                        Duration.ofSeconds(15).toNanos(), Duration.ofSeconds(30).toNanos());
        assertThat(backoff.watchedNanos(Duration.ofMillis(7)))
                .isEqualTo(Duration.ofMillis(8).toNanos());
        assertThat(backoff.nextNanos(Duration.ZERO))
                .as("the first pause when it is no longer told")
                .isLessThanOrEqualTo(Duration.ofMillis(5).toNanos());
    }
}
