package dev.latchkey.release;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * How long the files of {@code src/main} are, and how many there are in the core's own package, {@code package-info.java} not
 * counted: a class with two roles shows here first.
 */
class SourceSizeIT {

    private static final int LONGEST = 260;
    private static final int NINETIETH_PERCENTILE = 140;
    private static final int FILES_OF_THE_CORE = 32;

    @Test
    void givenAFileOfMainCode_thenItIsNotTooLong() throws IOException {
        assertThat(sources())
                .as("files with more than %d lines of code: give one of their roles a class of its own", LONGEST)
                .filteredOn(source -> source.lines() > LONGEST)
                .isEmpty();
    }

    @Test
    void givenAllFilesOfMainCode_thenNineOfTenAreShort() throws IOException {
        List<Source> sources = sources();
        List<Source> longer = sources.stream()
                .filter(source -> source.lines() > NINETIETH_PERCENTILE)
                .toList();

        assertThat(longer.size())
                .as(
                        "of %d files, those with more than %d lines of code, shortest first:%n%s",
                        sources.size(),
                        NINETIETH_PERCENTILE,
                        longer.stream().map(Source::toString).collect(Collectors.joining("\n")))
                .isLessThanOrEqualTo(sources.size() / 10);
    }

    @Test
    void givenTheCore_thenItsPackageHasFewFiles() throws IOException {
        try (Stream<Path> files = Files.list(Published.ROOT.resolve("lock-core/src/main/java/dev/latchkey"))) {
            assertThat(files.filter(Files::isRegularFile)
                            .map(file -> file.getFileName().toString())
                            .filter(name -> !name.equals("package-info.java")))
                    .hasSizeBetween(20, FILES_OF_THE_CORE);
        }
    }

    /** All of the checkout, shortest first. */
    private static List<Source> sources() throws IOException {
        try (Stream<Path> files = Files.walk(Published.ROOT, 12)) {
            List<Source> sources = files.filter(file -> file.toString().endsWith(".java"))
                    .filter(file -> file.toString().contains("/src/main/"))
                    .map(Source::of)
                    .sorted(Comparator.comparingInt(Source::lines))
                    .toList();
            assertThat(sources).hasSizeGreaterThan(700);
            return sources;
        }
    }
}
