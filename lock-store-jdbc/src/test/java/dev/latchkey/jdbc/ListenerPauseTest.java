package dev.latchkey.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** How long the listener leaves its connection to others. */
class ListenerPauseTest {

    /** Longer than the first pause: a pool without a connection to spare may have calls every other second. */
    private static final long MOMENT = Duration.ofMillis(1_500).toNanos();

    private final ListenerPause pause = new ListenerPause();

    @Test
    void givenThePoolWasShortOnce_whenASecondIsOver_thenItListensAgain() {
        assertThat(pause.isOver(0)).isTrue();

        assertThat(pause.begin(MOMENT, 0)).isEqualTo(Duration.ofSeconds(1));

        assertThat(pause.isOver(Duration.ofMillis(999).toNanos())).isFalse();
        assertThat(pause.isOver(Duration.ofSeconds(1).toNanos())).isTrue();
    }

    @Test
    void givenThePoolHasNoneToSpare_whenItIsShortAgainSoon_thenThePausesGrowToHalfAMinute() {
        assertThat(pause.begin(MOMENT, 0)).hasSeconds(1);
        for (long seconds : new long[] {2, 4, 8, 16, 30, 30}) {
            assertThat(pause.begin(MOMENT, 0)).hasSeconds(seconds);
        }

        assertThat(pause.begin(Duration.ofSeconds(30).toNanos(), 0)).hasSeconds(1);
    }
}
