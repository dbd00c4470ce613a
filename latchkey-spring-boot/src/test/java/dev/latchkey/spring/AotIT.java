package dev.latchkey.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The application is processed ahead of time as the build plugins of Spring Boot do it, and started on the JVM from what came of
 * that. No native image is built.
 */
class AotIT {

    private static final String CLASS_PATH = System.getProperty("java.class.path");

    @TempDir
    private Path directory = Path.of("");

    @Test
    void givenAnApplicationProcessedAheadOfTime_whenItIsStarted_thenItLocks() throws Exception {
        Path classes = Files.createDirectories(directory.resolve("classes"));
        process(classes);
        compile(classes);

        try (AppProcess app = AppProcess.start(
                List.of("-Dspring.aot.enabled=true"),
                classes + File.pathSeparator + CLASS_PATH,
                AotApplication.class.getName(),
                directory,
                "--spring.datasource.url=jdbc:h2:mem:aot")) {
            assertThat(app.awaitLine("locked ")).isEqualTo("work");
            assertThat(app.awaitEnd()).as(app.output()).isZero();
            assertThat(app.output()).containsIgnoringCase("AOT-processed");
        }
    }

    private void process(Path classes) throws Exception {
        try (AppProcess processor = AppProcess.start(
                List.of(),
                CLASS_PATH,
                "org.springframework.boot.SpringApplicationAotProcessor",
                directory,
                AotApplication.class.getName(),
                directory.resolve("sources").toString(),
                classes.toString(),
                classes.toString(),
                "org.example",
                "aot",
                "--spring.datasource.url=jdbc:h2:mem:aot")) {
            assertThat(processor.awaitEnd()).as(processor.output()).isZero();
        }
    }

    private void compile(Path classes) throws IOException {
        List<String> arguments =
                new ArrayList<>(List.of("-proc:none", "-nowarn", "-cp", classes + File.pathSeparator + CLASS_PATH));
        arguments.addAll(List.of("-d", classes.toString()));
        try (Stream<Path> sources = Files.walk(directory.resolve("sources"))) {
            sources.map(Path::toString).filter(file -> file.endsWith(".java")).forEach(arguments::add);
        }
        assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new)))
                .isZero();
    }
}
