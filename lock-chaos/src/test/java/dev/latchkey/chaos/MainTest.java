package dev.latchkey.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MainTest {

    @Test
    void givenNoArguments_whenParsed_thenAllStoresForAMinute() {
        assertThat(Main.parse(List.of())).hasValueSatisfying(all -> {
            assertThat(all.stores()).contains("redis", "flock", "combined").doesNotContain("planted");
            assertThat(all.length()).isEqualTo(Duration.ofMinutes(1));
        });
    }

    @Test
    void givenStoresMinutesAndASeed_whenParsed_thenTheseAreTaken() {
        assertThat(Main.parse(List.of("redis", "planted", "0.5", "--seed", "42")))
                .contains(new Main.Arguments(List.of("redis", "planted"), Duration.ofSeconds(30), 42));
    }

    @ParameterizedTest
    @ValueSource(strings = {"sqlserver", "0", "-1", "NaN", "1e9", "--seed", "--seed x"})
    void givenWhatIsWrong_whenParsed_thenNothing(String arguments) {
        assertThat(Main.parse(List.of(arguments.split(" ", -1)))).isEmpty();
    }
}
