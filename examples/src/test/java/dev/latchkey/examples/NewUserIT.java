package dev.latchkey.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Does what the README tells a new user: pastes its dependency and its program into an empty Maven project, which
 * sees our artifacts as they are installed, and runs it.
 */
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

    @TempDir
    private Path directory = Path.of("");

    @Test
    void givenAnEmptyProject_whenTheReadmesSnippetsArePasted_thenTheProgramRuns() throws Exception {
        Installed installed = Installed.in(directory);
        Path project = Files.createDirectories(directory.resolve("project"));
        Files.writeString(project.resolve("pom.xml"), PROJECT.replace("DEPENDENCY", snippet("<dependency>")));
        Path sources = Files.createDirectories(project.resolve("src/main/java"));
        Files.writeString(sources.resolve("NightlyReport.java"), snippet("class NightlyReport"));

        installed.maven(
                project,
                Installed.plugin("maven-compiler-plugin") + ":compile",
                Installed.plugin("maven-dependency-plugin") + ":copy-dependencies");
        String printed = installed.run(
                project, List.of(Installed.jdk("java"), "-cp", "target/classes:target/dependency/*", "NightlyReport"));

        assertThat(printed).containsPattern("alone, with fencing token \\d+");
    }

    private static String snippet(String part) throws IOException {
        return Snippet.of(Documents.ROOT.resolve("README.md")).stream()
                .map(Snippet::text)
                .filter(text -> text.contains(part))
                .findFirst()
                .orElseThrow();
    }
}
