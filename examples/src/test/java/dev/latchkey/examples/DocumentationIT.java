package dev.latchkey.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Compiles and runs every {@code java} block of the documents, and runs every {@code sh} block, with the repository as
 * working directory and the {@code lock} command on the path. What is only to be read stands in a {@code text} block.
 */
class DocumentationIT {

    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final long LIMIT_SECONDS = 60;

    @TempDir
    private Path directory = Path.of("");

    static List<Snippet> java() throws IOException {
        return snippets("java");
    }

    static List<Snippet> sh() throws IOException {
        return snippets("sh");
    }

    @ParameterizedTest
    @MethodSource("java")
    void givenJavaBlock_whenCompiledAndRun_thenItWorks(Snippet snippet) throws Exception {
        String name = JavaSnippet.write(snippet, directory);

        run(jdk("javac"), "-proc:none", "-cp", classPath(), "-d", directory.toString(), name + ".java");

        if (JavaSnippet.hasMain(snippet)) {
            run(jdk("java"), "-cp", directory + ":" + classPath(), name);
        }
    }

    @ParameterizedTest
    @MethodSource("sh")
    void givenShellBlock_whenRun_thenItWorks(Snippet snippet) throws Exception {
        runIn(ROOT, "sh", "-eu", "-c", snippet.text());
    }

    @Test
    void givenTheDocuments_thenEveryLinkBetweenThemLeadsSomewhere() throws IOException {
        for (Path document : documents()) {
            Stream.of(Files.readString(document).split("\\]\\("))
                    .skip(1)
                    .map(rest -> rest.substring(0, rest.indexOf(')')))
                    .filter(link -> !link.startsWith("http") && !link.startsWith("#"))
                    .forEach(link -> assertThat(document.resolveSibling(link.replaceAll("#.*", "")))
                            .as("link in %s", document)
                            .exists());
        }
    }

    private static List<Snippet> snippets(String language) throws IOException {
        List<Snippet> snippets = new ArrayList<>();
        for (Path document : documents()) {
            Snippet.of(document).stream()
                    .filter(snippet -> snippet.language().equals(language))
                    .forEach(snippets::add);
        }
        return snippets;
    }

    private static List<Path> documents() throws IOException {
        try (Stream<Path> top = Files.list(ROOT);
                Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
            return Stream.concat(top, docs)
                    .filter(path -> path.toString().endsWith(".md"))
                    .sorted()
                    .toList();
        }
    }

    private void run(String... command) throws IOException, InterruptedException {
        runIn(directory, command);
    }

    private void runIn(Path workingDirectory, String... command) throws IOException, InterruptedException {
        Path output = directory.resolve("output.txt");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(workingDirectory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        Path state = Files.createDirectories(directory.resolve("state"));
        builder.environment().put("XDG_STATE_HOME", state.toString());
        builder.environment().merge("PATH", ROOT.toString(), (path, root) -> root + ":" + path);
        Process process = builder.start();
        boolean ended = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
        process.destroyForcibly().waitFor();

        assertThat(ended)
                .as("ended in time; printed: %s", Files.readString(output))
                .isTrue();
        assertThat(process.exitValue())
                .as("printed: %s", Files.readString(output))
                .isZero();
    }

    private static String jdk(String tool) {
        return Path.of(System.getProperty("java.home"), "bin", tool).toString();
    }

    private static String classPath() {
        return System.getProperty("java.class.path");
    }
}
