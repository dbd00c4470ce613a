package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The archive of classes that a first start makes beside the jars, and that all later ones map into memory. */
class ArchiveIT {

    /** Stands for the JVM; when it is to begin with an archive, it says so, waits, and fails, if it is told to. */
    private static final String JAVA = """
            #!/bin/sh
            case $* in
            *-XX:DumpLoadedClassList*)
                if [ -n "${FAIL_ARCHIVE:-}" ]; then
                    : >"$T/archiving"
                    while [ ! -e "$T/fail" ]; do sleep 0.05; done
                    exit 1
                fi ;;
            esac
            exec "%s" "$@"
            """.formatted(Path.of(System.getProperty("java.home"), "bin", "java"));

    @TempDir
    Path directory = Path.of("");

    private Cli cli = new Cli(directory);
    private Path dist = Path.of("");

    @BeforeEach
    void setUp() throws IOException {
        cli = new Cli(directory);
        dist = Files.createDirectory(directory.resolve("dist"));
        Path java = Files.writeString(
                Files.createDirectories(directory.resolve("jdk/bin")).resolve("java"), JAVA);
        assertThat(java.toFile().setExecutable(true)).isTrue();
        var copy = cli.start(List.of("cp", "-Rp", "target/lock-cli.jar", "target/lib", dist.toString()), "");
        assertThat(copy.exitCode()).as(copy.err()).isZero();
    }

    @AfterEach
    void tearDown() {
        cli.close();
    }

    /** E1: a JVM that has the archive mapped dies of SIGBUS when it is truncated, and its command goes on unlocked. */
    @Test
    void givenACommandRunsWithTheArchive_whenAnotherStarterCannotMakeIt_thenItIsLeftAlone() throws IOException {
        var failing = start("FAIL_ARCHIVE=1", "run", "y", "--", "echo", "ran");
        cli.awaitFile("archiving");
        var running = start("NONE=1", "run", "x", "-c", ": >$T/ready; " + Cli.until("go"));
        // Making one takes seconds, and more on a busy machine.
        await().atMost(Cli.PATIENCE_WITH_ARCHIVE).until(() -> Files.exists(cli.file("ready")));
        Path archive = archive();
        long size = Files.size(archive);

        cli.touch("fail");

        assertThat(failing.exitCode()).as(failing.err()).isZero();
        assertThat(failing.out()).isEqualTo("ran\n");
        assertThat(failing.err()).isEmpty();
        assertThat(archive).hasSize(size);
        cli.touch("go");
        assertThat(running.exitCode()).as(running.err()).isZero();
        assertThat(size).isPositive();
        assertThat(files("(?!lib$).*")).as("nothing else is left").hasSize(2);
    }

    /** Each attempt takes seconds. */
    @Test
    void givenNoArchiveCanBeMade_whenStartedAgain_thenNotTriedAgain() throws IOException {
        cli.touch("fail");
        var first = start("FAIL_ARCHIVE=1", "run", "x", "--", "true");
        assertThat(first.exitCode()).as(first.err()).isZero();
        Files.delete(directory.resolve("archiving"));

        var second = start("FAIL_ARCHIVE=1", "run", "x", "--", "true");

        assertThat(second.exitCode()).as(second.err()).isZero();
        assertThat(directory.resolve("archiving")).doesNotExist();
        assertThat(first.err() + second.err()).isEmpty();
        assertThat(archive()).isEmptyFile();
    }

    private Cli.Running start(String variable, String... arguments) {
        List<String> command = Stream.concat(
                        Stream.of("env", variable, "JAVA_HOME=" + directory.resolve("jdk"), "/bin/sh", "-c"),
                        Stream.concat(
                                Stream.of("dist=$0; . src/main/launcher/start.sh", dist.toString()),
                                Stream.of(arguments)))
                .toList();
        return cli.start(command, "");
    }

    private Path archive() throws IOException {
        List<Path> made = files(".*\\.jsa");
        assertThat(made).hasSize(1);
        return made.get(0);
    }

    private List<Path> files(String pattern) throws IOException {
        try (Stream<Path> files = Files.list(dist)) {
            return files.filter(file -> file.getFileName().toString().matches(pattern))
                    .toList();
        }
    }
}
