package dev.latchkey.release;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What others can use is written down in {@code api/}, one file for each artifact, so that a change of it is seen in the
 * change that makes it.
 */
class PublicApiIT {

    private static final Path ACCEPTED = Published.ROOT.resolve("api");
    private static final Path BUILT = Path.of("target", "api");

    static List<Published> jars() {
        return Published.all();
    }

    @ParameterizedTest
    @MethodSource("jars")
    void givenArtifact_thenItsPublicApiIsTheOneWrittenDown(Published published) throws Exception {
        Path accepted = ACCEPTED.resolve(published.artifactId() + ".txt");
        Path built = Files.createDirectories(BUILT).resolve(published.artifactId() + ".txt");

        Files.writeString(built, PublicApi.of(published.jar()));

        assertThat(accepted)
                .as(
                        "the public API of %1$s. If it was to change, and CHANGELOG.md says so:%n"
                                + "    cp release-checks/target/api/%1$s.txt api/",
                        published.artifactId())
                .hasSameTextualContentAs(built);
    }

    @Test
    void givenWhatIsWrittenDown_thenItIsOfSomethingThatIsPublished() throws IOException {
        try (Stream<Path> files = Files.list(ACCEPTED)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrderElementsOf(jars().stream()
                            .map(jar -> jar.artifactId() + ".txt")
                            .toList());
        }
    }
}
