package dev.latchkey.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each page of {@code docs/benchmarks} measures the code of this checkout. A page that is older is not run again by every
 * change to the code: it is named at the end of {@code ./verify}, which fails for that if it is {@code --strict}.
 */
class PagesAreCurrentIT {

    private static final Path CHECKOUT = Path.of("..");

    /** Where a contest is not named like the module of its store. */
    private static final Map<String, List<String>> MODULES = Map.of(
            "in-memory", List.of(),
            "combined", List.of("lock-store-redis"),
            "redis-semaphores", List.of("lock-store-redis"),
            "redis-sticky", List.of("lock-store-redis"));

    /** The contests in which sticky locks take part. No other lock runs the code of their package. */
    private static final Set<String> STICKY = Set.of("jdbc", "redis", "redis-sticky");

    /** What runs when a factory is closed: the JVMs of contenders end without that. */
    private static final String CLOSING = "lock-core/src/main/java/dev/latchkey/sticky/IdleReleases.java";

    static Stream<String> pages() {
        return Contests.stores().stream().filter(store -> Files.exists(figures(store)));
    }

    @ParameterizedTest
    @MethodSource("pages")
    void givenPage_whenCodeOfItsRevisionIsCompared_thenItIsThatOfThisCheckout(String store) throws Exception {
        String revision = new ObjectMapper()
                .readTree(figures(store).toFile())
                .path("setting")
                .path("revision")
                .asText();

        assertThat(revision).as("the revision of docs/benchmarks/%s.md", store).matches("[0-9a-f]{7,40}(-dirty)?");

        assumeTrue(
                !revision.endsWith("-dirty"),
                "docs/benchmarks/" + store + ".md measures " + revision + ", which nobody can check out: ./benchmark "
                        + store);
        assumeTrue(git("cat-file", "-e", revision + "^{commit}") == 0, "git does not have " + revision);
        assumeTrue(
                git(changed(store, revision)) == 0,
                "docs/benchmarks/" + store + ".md measures " + revision
                        + ", and the code has changed since: ./benchmark " + store);
    }

    /** The main code of the core and of the store, which is what a cycle of acquire and release runs. */
    private static String[] changed(String store, String revision) {
        List<String> command =
                new ArrayList<>(List.of("diff", "--quiet", revision, "HEAD", "--", "lock-core/src/main"));
        MODULES.getOrDefault(store, List.of("lock-store-" + store)).stream()
                .map(module -> {
                    assertThat(CHECKOUT.resolve(module))
                            .as("the module of %s", store)
                            .isDirectory();
                    return module + "/src/main";
                })
                .forEach(command::add);
        command.add(":(exclude)" + CLOSING);
        if (!STICKY.contains(store)) {
            command.add(":(exclude)lock-core/src/main/java/dev/latchkey/sticky");
        }
        return command.toArray(String[]::new);
    }

    private static Path figures(String store) {
        return CHECKOUT.resolve("docs/benchmarks/" + store + ".json");
    }

    private static int git(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("git"));
        command.addAll(List.of(arguments));
        Process git = new ProcessBuilder(command)
                .directory(CHECKOUT.toFile())
                .redirectErrorStream(true)
                .start();
        String told = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int code = git.waitFor();
        assertThat(code).as("git %s: %s", List.of(arguments), told).isBetween(0, 128);
        return code;
    }
}
