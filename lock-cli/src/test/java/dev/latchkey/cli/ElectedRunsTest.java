package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ElectedRunsTest {

    @ParameterizedTest
    @CsvSource({"0, 1", "1, 1", "2, 2", "3, 4", "6, 32", "7, 60", "8, 60", "2147483647, 60"})
    void givenFailuresInARow_whenItPauses_thenLongerEachTimeButAMinuteAtMost(int failures, int seconds) {
        assertThat(ElectedRuns.pauseAfter(failures)).isEqualTo(Duration.ofSeconds(seconds));
    }
}
