package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DurationTextTest {

    @ParameterizedTest
    @CsvSource({
        "30s, PT30S",
        "500ms, PT0.5S",
        "5m, PT5M",
        "1h, PT1H",
        "2d, PT48H",
        "1h30m, PT1H30M",
        "1.5h, PT1H30M",
        "0, PT0S",
        "2.5, PT2.5S",
        "30, PT30S",
        "PT30S, PT30S",
        "P1D, PT24H",
        "0.000000001, PT0.000000001S",
        "999999999999d, PT876000H",
        "99999999d99999999d99999999d, PT876000H"
    })
    void givenDuration_whenParsed_thenRight(String text, Duration duration) {
        assertThat(DurationText.parse(text)).isEqualTo(duration);
    }

    /** A matcher that goes down a level for each part overflows the stack of its thread. */
    @Test
    void givenThousandsOfParts_whenParsed_thenTheirSum() {
        assertThat(DurationText.parse("1s".repeat(20_000))).isEqualTo(Duration.ofSeconds(20_000));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "-1",
                "-PT1S",
                "5x",
                "5 s",
                "s",
                "1e9",
                "1.s",
                ".5",
                "PT",
                "30S",
                "9999999999999",
                "1h-1m"
            })
    void givenNoDuration_whenParsed_thenSaysWhatWouldBe(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DurationText.parse(text))
                .withMessageContaining("500ms");
    }

    @ParameterizedTest
    @CsvSource({"PT0.25S, 0.25 s", "PT100S, 100 s", "PT0S, 0 s", "PT5M, 5m 0s", "PT26H1M, 26h 1m 0s"})
    void givenDuration_whenFormatted_thenForPeople(Duration duration, String text) {
        assertThat(DurationText.format(duration)).isEqualTo(text);
    }
}
