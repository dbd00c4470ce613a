package dev.latchkey.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.servers.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** C28: an application, or what manages its versions, decides which version of the driver there is. */
class LettuceVersionsIT {

    private static final String PROJECT = """
            <project xmlns="http://maven.apache.org/POM/4.0.0">
                <modelVersion>4.0.0</modelVersion>
                <groupId>org.example</groupId>
                <artifactId>versions</artifactId>
                <version>1</version>
                <dependencies>
                    <dependency>
                        <groupId>dev.latchkey</groupId>
                        <artifactId>lock-store-redis</artifactId>
                        <version>OURS</version>
                    </dependency>
                    <dependency>
                        <groupId>io.lettuce</groupId>
                        <artifactId>lettuce-core</artifactId>
                        <version>DRIVER</version>
                    </dependency>
                </dependencies>
            </project>
            """;

    @TempDir
    private Path directory = Path.of("");

    /** Those of Spring Boot 4.0 and 4.1, and the one the store is built with. */
    @ParameterizedTest
    @ValueSource(strings = {"6.8.2.RELEASE", "7.5.2.RELEASE", "7.7.0.RELEASE"})
    void givenAVersionOfLettuce_whenLockedByDsnAndByAClient_thenBothWork(String version) throws Exception {
        Installed installed = Installed.in(directory);
        Files.writeString(
                directory.resolve("pom.xml"),
                PROJECT.replace("OURS", installed.version()).replace("DRIVER", version));
        installed.maven(
                directory,
                Installed.plugin("maven-dependency-plugin") + ":build-classpath",
                "-Dmdep.outputFile=classpath.txt");
        String classPath = Files.readString(directory.resolve("classpath.txt"));
        assertThat(classPath).contains("lettuce-core-" + version);

        String printed = installed.run(
                directory,
                List.of(
                        Installed.jdk("java"),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-cp",
                        Installed.alone(OwnRedisClient.class, directory) + ":" + classPath,
                        OwnRedisClient.class.getName(),
                        RedisServer.sharedDsn()));

        assertThat(printed.lines().filter("locked true"::equals)).as(printed).hasSize(2);
    }
}
