package dev.latchkey.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StressTest {

    @Test
    void givenOperationsAndASeed_whenParsed_thenTheseAreTaken() {
        assertThat(Stress.parse(List.of("redis", "20000", "42")))
                .contains(new Stress.Arguments("redis", 20_000, 42, Workload.STRESS));
        assertThat(Stress.parse(List.of("planted", "7")))
                .contains(new Stress.Arguments("planted", 0, 7, Workload.STRESS));
        assertThat(Stress.parse(List.of("--sticky", "redis", "20000", "42")))
                .contains(new Stress.Arguments("redis", 20_000, 42, Workload.STICKY_STRESS));
    }

    @Test
    void givenNoNumbers_whenParsed_thenThereAreMany() {
        assertThat(Stress.parse(List.of("redis")))
                .hasValueSatisfying(all -> assertThat(all.operations()).isEqualTo(100_000));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "jdbc", "redis 0", "redis x", "redis 1 2 3", "planted 1 2"})
    void givenWhatIsWrong_whenParsed_thenNothing(String arguments) {
        assertThat(Stress.parse(List.of(arguments.split(" ", -1)))).isEmpty();
    }
}
