package dev.latchkey.release;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the stores with many jars bring into an application is as their pages say: so nothing is added unnoticed. */
class DependenciesIT {

    private static final Pattern SAID = Pattern.compile("brings (\\d+) jars of (\\d+) MB");

    /** By the directories of a Maven repository in which the jars of the groups are. */
    @ParameterizedTest
    @CsvSource({
        "etcd, /io/etcd/|/io/grpc/|/io/perfmark/|/com/google/protobuf/|/com/google/api/",
        "dynamodb, /software/amazon/|/org/reactivestreams/"
    })
    void givenAStore_whenAnApplicationAddsIt_thenItBringsWhatItsPageSays(String page, String groups)
            throws IOException {
        List<Path> jars = jars(Pattern.compile(groups));
        String said = Files.readString(Published.ROOT.resolve("docs/stores/" + page + ".md"));
        Matcher numbers = SAID.matcher(said);

        assertThat(numbers.find()).isTrue();
        assertThat(jars).hasSize(Integer.parseInt(numbers.group(1)));
        assertThat(Math.round(jars.stream().mapToLong(DependenciesIT::size).sum() / 1e6))
                .as("MB of %s", jars)
                .isEqualTo(Long.parseLong(numbers.group(2)));
    }

    private static List<Path> jars(Pattern groups) {
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> entry.endsWith(".jar"))
                .filter(entry ->
                        groups.matcher(entry.replace(File.separatorChar, '/')).find())
                .map(Path::of)
                .toList();
    }

    private static long size(Path jar) {
        try {
            return Files.size(jar);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
