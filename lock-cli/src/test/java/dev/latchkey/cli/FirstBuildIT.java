package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The launcher of a checkout whose build is a script that notes when it runs. */
class FirstBuildIT {

    private static final String BUILD = """
            #!/bin/sh
            echo begin >>"$T/builds"
            : >"$T/building"
            while [ ! -e "$T/build" ]; do sleep 0.05; done
            mkdir -p lock-cli/target/lib
            : >lock-cli/target/lock-cli.jar
            echo end >>"$T/builds"
            """;

    @TempDir
    Path directory = Path.of("");

    private Cli cli = new Cli(directory);
    private Path root = Path.of("");

    @BeforeEach
    void setUp() throws IOException {
        cli = new Cli(directory);
        root = Files.createDirectory(directory.resolve("checkout"));
        executable(root.resolve("mvnw"), BUILD);
        executable(root.resolve("lock"), Files.readString(Path.of("../lock")));
        Files.createFile(root.resolve("pom.xml"));
        for (String module : List.of("lock-core", "lock-console", "lock-store-flock", "lock-cli")) {
            Files.createDirectories(root.resolve(module).resolve("src/main"));
            Files.createFile(root.resolve(module).resolve("pom.xml"));
        }
        Path scripts = Files.createDirectory(root.resolve("lock-cli/src/main/launcher"));
        Files.writeString(scripts.resolve("start.sh"), "echo started\n");
    }

    private static void executable(Path file, String content) throws IOException {
        assertThat(Files.writeString(file, content).toFile().setExecutable(true))
                .isTrue();
    }

    @AfterEach
    void tearDown() {
        cli.close();
    }

    /** E10: process 1 lives in every container, and the link is of one that is gone. */
    @Test
    void givenTheGuardOfABuilderThatIsGone_whenStarted_thenBuiltAndStarted() throws IOException {
        Path builds = Files.createDirectories(root.resolve("lock-cli/target/launcher"));
        Files.createSymbolicLink(builds.resolve("building"), Path.of("1"));
        cli.touch("build");

        var lock = start();

        assertThat(lock.exitCode()).as(lock.err()).isZero();
        assertThat(lock.out()).isEqualTo("started\n");
        assertThat(cli.read("builds")).isEqualTo("begin\nend\n");
    }

    @Test
    void givenSeveralAreStartedAtOnce_whenBuilt_thenOnce() {
        List<Cli.Running> all = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            all.add(start());
        }
        cli.awaitFile("building");
        cli.touch("build");

        assertThat(all).allSatisfy(lock -> {
            assertThat(lock.exitCode()).as(lock.err()).isZero();
            assertThat(lock.out()).isEqualTo("started\n");
        });
        assertThat(cli.read("builds")).isEqualTo("begin\nend\n");
    }

    /** E10: its build runs on, in the same directory, and the next must not come between. */
    @Test
    void givenABuilderIsKilled_whenItsBuildRunsOn_thenTheNextWaitsForItsEnd() {
        var killed = start();
        cli.awaitFile("building");
        killed.signal("KILL");
        assertThat(killed.exitCode()).isEqualTo(137);

        var next = start();
        await().during(Duration.ofSeconds(1))
                .atMost(Cli.PATIENCE)
                .until(() -> cli.read("builds").equals("begin\n"));
        cli.touch("build");

        assertThat(next.exitCode()).as(next.err()).isZero();
        assertThat(cli.read("builds")).isEqualTo("begin\nend\nbegin\nend\n");
    }

    /** E10: each has the same process id in its own container, and the other is just done with a directory of that name. */
    @Test
    void givenTwoOfTheSameProcessId_whenStartedAtOnce_thenNeitherIsInTheWayOfTheOther() throws IOException {
        Path bin = Files.createDirectory(directory.resolve("bin"));
        Path builds = root.resolve("lock-cli/target/launcher");
        executable(bin.resolve("rmdir"), "#!/bin/sh\nrm -rf " + builds + "/$PPID\nexec /bin/rmdir \"$@\"\n");
        cli.touch("build");

        var lock = cli.start(
                List.of(
                        "env",
                        "PATH=" + bin + ":" + System.getenv("PATH"),
                        root.resolve("lock").toString()),
                "");

        assertThat(lock.exitCode()).as(lock.err()).isZero();
        assertThat(lock.out()).isEqualTo("started\n");
    }

    @Test
    void givenOneWaitsForTheBuildOfAnother_whenTerm_thenItEnds() throws IOException {
        start();
        cli.awaitFile("building");
        var waiting = start();

        waiting.signal("TERM");

        assertThat(waiting.exitCode()).isEqualTo(143);
        cli.touch("build");
    }

    @Test
    void givenABuildThatTakesLong_whenStarted_thenItSaysHowFarItIs() {
        var lock = start();
        cli.awaitFile("building");

        await().atMost(Cli.PATIENCE)
                .until(() -> lock.err().contains("lock: building: preparing, 0 files downloaded\n"));

        cli.touch("build");
        assertThat(lock.exitCode()).as(lock.err()).isZero();
    }

    /** What says how far a build is has all files that the caller has open. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void givenACallerThatHasLockedAFile_whenBuilt_thenTheFileIsFreeWhenTheCallerClosesIt() {
        String caller = "exec 8>$T/file; flock 8; \"$0\"; exec 8>&-; flock -n $T/file echo free";

        var lock = cli.start(List.of("sh", "-c", caller, root.resolve("lock").toString()), "");
        cli.awaitFile("building");
        cli.touch("build");

        assertThat(lock.exitCode()).isZero();
        assertThat(lock.out()).isEqualTo("started\nfree\n");
    }

    @Test
    void givenABuildThatFails_whenStarted_then69AndSaysWhy() throws IOException {
        executable(root.resolve("mvnw"), "#!/bin/sh\necho '[INFO] fine'\necho '[ERROR] no network'\nexit 1\n");

        var lock = start();

        assertThat(lock.exitCode()).isEqualTo(69);
        assertThat(lock.err())
                .startsWith("lock: building, once (")
                .endsWith("[ERROR] no network\nlock: the build failed, see above\n")
                .doesNotContain("fine");
    }

    private Cli.Running start() {
        return cli.start(List.of(root.resolve("lock").toString()), "");
    }
}
