package dev.latchkey.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DsnDurationTest {

    @ParameterizedTest
    @CsvSource({"250ms, PT0.25S", "5s, PT5S", "90s, PT90S", "2m, PT2M", "24h, PT24H", "86400s, PT24H"})
    void givenANumberWithAUnit_whenParsed_thenThatLong(String text, Duration duration) {
        assertThat(DsnDuration.parse(text)).contains(duration);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "5",
                "5000",
                "0s",
                "-1s",
                "+1s",
                "1.5s",
                "5 s",
                "25h",
                "86401s",
                "999999999h",
                "5S",
                "5sec",
                "1m30s",
                "PT5S",
                "s",
                "1234567890s",
                "٥s"
            })
    void givenAnythingElse_whenParsed_thenNone(String text) {
        assertThat(DsnDuration.parse(text)).isEmpty();
    }
}
