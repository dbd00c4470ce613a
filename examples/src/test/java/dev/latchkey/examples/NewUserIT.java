package dev.latchkey.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Does what the README tells a new user: pastes its first dependency and its first program into an empty Maven project, which
 * sees our artifacts as they are installed, and runs it.
 *
 * <p>Installed means: laid out in a repository of the test's own, as the install plugin does, from the jars this test has on
 * its class path. All else is found in the repository of the build, which is only read.
 */
@Timeout(value = 300, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class NewUserIT {

    private static final String PROJECT = """
            <project xmlns="http://maven.apache.org/POM/4.0.0">
                <modelVersion>4.0.0</modelVersion>
                <groupId>org.example</groupId>
                <artifactId>empty</artifactId>
                <version>1</version>
                <properties>
                    <maven.compiler.release>17</maven.compiler.release>
                    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
                </properties>
                <dependencies>
                    DEPENDENCY
                </dependencies>
            </project>
            """;

    private static final Pattern OUR_JAR = Pattern.compile("(lock-[a-z-]+?)-(\\d[^/]*)\\.jar");

    @TempDir
    private Path directory = Path.of("");

    @Test
    void givenAnEmptyProject_whenTheReadmesFirstSnippetsArePasted_thenTheProgramRuns() throws Exception {
        Path repository = directory.resolve("repository");
        install(repository);
        Path project = Files.createDirectories(directory.resolve("project"));
        Files.writeString(project.resolve("pom.xml"), PROJECT.replace("DEPENDENCY", first("xml")));
        Path sources = Files.createDirectories(project.resolve("src/main/java"));
        Files.writeString(sources.resolve("NightlyReport.java"), first("java"));

        run(
                project,
                Documents.ROOT.resolve("mvnw").toString(),
                "-q",
                "-B",
                "-Dmaven.repo.local=" + repository,
                "-Dmaven.repo.local.tail=" + System.getProperty("latchkey.repository"),
                "-Dmaven.repo.local.tail.ignoreAvailability=true",
                plugin("maven-compiler-plugin") + ":compile",
                plugin("maven-dependency-plugin") + ":copy-dependencies");
        String printed = run(project, jdk("java"), "-cp", "target/classes:target/dependency/*", "NightlyReport");

        assertThat(printed).containsPattern("alone, with fencing token \\d+");
    }

    private static String first(String language) throws IOException {
        return Snippet.of(Documents.ROOT.resolve("README.md")).stream()
                .filter(snippet -> snippet.language().equals(language))
                .findFirst()
                .orElseThrow()
                .text();
    }

    private static void install(Path repository) throws IOException {
        String version = "";
        for (String entry : System.getProperty("java.class.path").split(":", -1)) {
            Matcher jar = OUR_JAR.matcher(Path.of(entry).getFileName().toString());
            if (jar.matches() && Files.exists(Documents.ROOT.resolve(jar.group(1)))) {
                version = jar.group(2);
                Path pom = Documents.ROOT.resolve(jar.group(1)).resolve("pom.xml");
                install(repository, jar.group(1), version, pom, Stream.of(Path.of(entry)));
            }
        }
        install(repository, "latchkey-parent", version, Documents.ROOT.resolve("pom.xml"), Stream.of());
    }

    private static void install(Path repository, String artifact, String version, Path pom, Stream<Path> jar)
            throws IOException {
        Path home = Files.createDirectories(
                repository.resolve("dev/latchkey").resolve(artifact).resolve(version));
        Files.copy(pom, home.resolve(artifact + "-" + version + ".pom"));
        for (Path file : jar.toList()) {
            Files.copy(file, home.resolve(artifact + "-" + version + ".jar"));
        }
    }

    /** In the version that our own build uses, which is therefore there. */
    private static String plugin(String artifact) throws IOException {
        Matcher version = Pattern.compile("<artifactId>" + artifact + "</artifactId>\\s*<version>([^<]+)<")
                .matcher(Files.readString(Documents.ROOT.resolve("pom.xml")));
        assertThat(version.find()).as(artifact).isTrue();
        return "org.apache.maven.plugins:" + artifact + ":" + version.group(1);
    }

    private String run(Path workingDirectory, String... command) throws IOException, InterruptedException {
        Path output = directory.resolve("output.txt");
        ProcessBuilder builder = new ProcessBuilder(List.of(command))
                .directory(workingDirectory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        builder.environment().put("XDG_STATE_HOME", directory.resolve("state").toString());
        int exit = builder.start().waitFor();
        String printed = Files.readString(output);
        assertThat(exit).as("printed: %s", printed).isZero();
        return printed;
    }

    private static String jdk(String tool) {
        return Path.of(System.getProperty("java.home"), "bin", tool).toString();
    }
}
