package dev.latchkey.flock;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LockDirectoryTest {

    @TempDir
    Path directory;

    private LockDirectory names;

    @BeforeEach
    void open() {
        names = new LockDirectory(directory);
    }

    @Test
    void givenPlainName_whenMapped_thenReadableWithHash() {
        assertThat(fileName("report")).matches("report-[0-9a-f]{64}\\.lock").hasSize(6 + 1 + 64 + 5);
    }

    @Test
    void givenStrangeName_whenMapped_thenItsLettersAreReadable() {
        assertThat(fileName("<?php echo \"% hello word ! %\" ?>")).startsWith("php-echo-hello-word-");
    }

    @Test
    void givenEmptyName_whenMapped_thenHashAlone() {
        assertThat(fileName("")).isEqualTo("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855.lock");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"/", "..", "../../etc/passwd", "-rf", ".hidden", "CON", "nul.txt", "\uD83D\uDD12", "a\u0000b"})
    void givenDangerousName_whenMapped_thenAPlainFileInTheDirectory(String resource) {
        Path file = names.file(resource);

        assertThat(file.getParent()).isEqualTo(directory);
        assertThat(file.getFileName().toString()).matches("([A-Za-z0-9_][A-Za-z0-9_-]*-)?[0-9a-f]{64}\\.lock");
    }

    @Test
    void givenLongName_whenMapped_thenShortEnoughForAnyFileSystem() {
        assertThat(fileName("k".repeat(10_240))).hasSizeLessThan(128);
    }

    @Test
    void givenNamesThatDifferInAnything_whenMapped_thenDifferentAlsoWhereCaseDoesNotCount() {
        Stream<String> resources = Stream.of("a", "A", "a ", " a", "a/b", "a-b", "a//b", "", "/", "\u00e9", "e\u0301");

        assertThat(resources.map(resource -> fileName(resource).toLowerCase(Locale.ROOT)))
                .doesNotHaveDuplicates();
    }

    private String fileName(String resource) {
        return names.file(resource).getFileName().toString();
    }
}
