package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What a user of the command has to download, so that nothing large is added unnoticed. */
class DistributionIT {

    private static final Pattern SAID = Pattern.compile("distribution has about (\\d+) MB");
    private static final long LARGEST_DIFFERENCE = 3;

    @Test
    void givenTheDistribution_thenItIsAsLargeAsItsPageSays() throws IOException {
        Matcher said = SAID.matcher(Files.readString(Path.of("../docs/command.md")));

        assertThat(said.find()).isTrue();
        assertThat(Math.round(size(".*") / 1e6)).isCloseTo(Long.parseLong(said.group(1)), within(LARGEST_DIFFERENCE));
        assertThat(size("jline-.*")).as("what only lock top needs").isPositive().isLessThan(1_000_000);
    }

    private static long size(String name) throws IOException {
        try (Stream<Path> lib = Files.list(Path.of("target/lib"))) {
            List<Path> jars = Stream.concat(lib, Stream.of(Path.of("target/lock-cli.jar")))
                    .filter(jar -> jar.getFileName().toString().matches(name))
                    .toList();
            return jars.stream().mapToLong(DistributionIT::size).sum();
        }
    }

    private static long size(Path jar) {
        try {
            return Files.size(jar);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
