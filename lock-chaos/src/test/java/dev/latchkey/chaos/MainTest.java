package dev.latchkey.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
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
                .contains(new Main.Arguments(List.of("redis", "planted"), Duration.ofSeconds(30), 42, Workload.CHAOS));
        assertThat(Main.parse(List.of("--sticky", "redis")))
                .hasValueSatisfying(all -> assertThat(all.workload()).isEqualTo(Workload.STICKY_CHAOS));
    }

    @ParameterizedTest
    @ValueSource(strings = {"sqlserver", "0", "-1", "NaN", "1e9", "--seed", "--seed x"})
    void givenWhatIsWrong_whenParsed_thenNothing(String arguments) {
        assertThat(Main.parse(List.of(arguments.split(" ", -1)))).isEmpty();
    }

    @Test
    void givenStoresWithoutTheirServers_whenTried_thenAllAreAndNothingIsRefuted() throws Exception {
        List<Path> directories = new ArrayList<>();
        Map<String, Function<Path, StoreUnderTest>> stores = Map.of(
                "one",
                        directory -> {
                            directories.add(directory);
                            throw new AssertionError("no server: install one");
                        },
                "other",
                        directory -> {
                            directories.add(directory);
                            throw new IllegalStateException("the server did not start");
                        });

        int exitCode = Main.tryAll(
                new Main.Arguments(List.of("one", "other"), Duration.ofSeconds(1), 0, Workload.CHAOS), stores);

        assertThat(exitCode).isEqualTo(69);
        assertThat(directories).hasSize(2);
        for (Path directory : directories) {
            Files.delete(directory);
        }
    }
}
