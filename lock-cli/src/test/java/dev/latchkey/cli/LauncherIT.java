package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The scripts before the JVM, on files of their own. */
class LauncherIT extends CliFixture {

    @Test
    void givenBuildsThatCannotBeMade_whenStarted_then69AndSaysWhatToDo() throws IOException {
        Files.createFile(Files.createDirectory(directory.resolve("lock-cli")).resolve("target"));

        assertThatItSaysWhatToDo();
    }

    /** Nobody can write there, not even root. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void givenBuildsThatCannotBeWritten_whenStarted_then69AndSaysWhatToDo() throws IOException {
        Path target = Files.createDirectories(directory.resolve("lock-cli/target"));
        Path link = Files.createSymbolicLink(target.resolve("launcher"), Path.of("/sys"));

        assertThatItSaysWhatToDo();
        Files.delete(link);
    }

    private void assertThatItSaysWhatToDo() throws IOException {
        Path launcher = Files.copy(Path.of("../lock"), directory.resolve("lock"));

        var lock = cli.start(List.of("/bin/sh", launcher.toString(), "--version"), "");

        assertThat(lock.exitCode()).isEqualTo(69);
        assertThat(lock.err())
                .startsWith("lock: not built, or older than its sources")
                .contains(directory.toRealPath().resolve("lock-cli/target/launcher") + " cannot be written")
                .hasLineCount(1);
    }

    /** An image is made in one place, and its jars are other files where it is used, though of the same age. */
    @Test
    void givenCopyInAnotherTimeZone_whenStarted_thenItsArchiveOfClassesFits() throws IOException {
        Path dist = Files.createDirectory(directory.resolve("dist"));
        run("cp", "-Rp", "target/lock-cli.jar", "target/lib", dist.toString());
        startFrom(dist, "UTC0");
        List<Path> archives = archives(dist);
        assertThat(archives).hasSize(1);

        run("cp", "-Rp", dist.toString(), directory.resolve("copy").toString());
        Files.move(dist, directory.resolve("original"));
        Files.move(directory.resolve("copy"), dist);
        startFrom(dist, "UTC-9");

        assertThat(archives(dist)).isEqualTo(archives);
    }

    /** Each class that a run reads from a jar, or makes for itself, takes about a millisecond of its start. */
    @Test
    void givenArchiveOfClasses_whenRun_thenHardlyAnyOtherClassIsLoaded() throws IOException {
        Path dist = Files.createDirectory(directory.resolve("dist"));
        run("cp", "-Rp", "target/lock-cli.jar", "target/lib", dist.toString());
        startFrom(dist, "UTC0");
        Path loaded = directory.resolve("loaded");

        run(
                "env",
                "-u",
                "XDG_STATE_HOME",
                "HOME=" + directory,
                "LATCHKEY_JAVA_OPTIONS=-Xlog:class+load:file=" + loaded,
                "/bin/sh",
                "-c",
                "dist=$0; . src/main/launcher/start.sh",
                dist.toString(),
                "run",
                "nightly",
                "--",
                "true");

        assertThat(Files.readAllLines(loaded)).hasSizeGreaterThan(1000);
        assertThat(Files.readAllLines(loaded))
                // The annotations that picocli reads are proxies, and events of the JDK's flight recorder are never
                // archived.
                .filteredOn(line -> !line.contains(" source: shared objects file")
                        && !line.contains(".$Proxy")
                        && !line.contains(" jdk.internal.event."))
                .hasSizeLessThan(5);
    }

    /** Its JVM would refuse another collector, and say which options it has got. */
    @Test
    void givenOptionsForTheJvmsOfAnApplication_whenRun_thenTheCommandAloneHasThem() {
        List<String> command = new ArrayList<>(
                List.of("env", "JAVA_TOOL_OPTIONS=-Xms512m", "JDK_JAVA_OPTIONS=-XX:+UseG1GC", "_JAVA_OPTIONS="));
        command.addAll(
                Cli.command(
                        "run",
                        "x",
                        "-c",
                        "echo \"$JAVA_TOOL_OPTIONS|$JDK_JAVA_OPTIONS|${_JAVA_OPTIONS-unset}\"; env | grep LATCHKEY_KEPT; true"));

        var run = cli.start(command, "");

        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.out()).isEqualTo("-Xms512m|-XX:+UseG1GC|\n");
        assertThat(run.err()).isEmpty();
    }

    /** The JVM logs each collection to the pipe in which it tells of QUIT, and stands still when it is full. */
    @Test
    void givenMoreCollectionsThanThePipeHolds_whenListed_thenAllIsListed() throws IOException {
        Path dist = Files.createDirectory(directory.resolve("dist"));
        run("cp", "-Rp", "target/lock-cli.jar", "target/lib", dist.toString());
        Files.createSymbolicLink(
                dist.resolve("lib/plenty.jar"), Path.of("target/test-classes").toAbsolutePath());
        Path collections = directory.resolve("collections");

        var ls = cli.start(
                List.of(
                        "env",
                        "LATCHKEY_JAVA_OPTIONS=-Xmn1m -Xlog:gc:file=" + collections,
                        "/bin/sh",
                        "-c",
                        "dist=$0; . src/main/launcher/start.sh",
                        dist.toString(),
                        "ls",
                        "--store",
                        PlentyStore.DSN + "60000"),
                "");

        assertThat(ls.exitCode(Cli.PATIENCE_WITH_ARCHIVE)).as(ls.err()).isZero();
        assertThat(ls.out()).hasLineCount(60_001);
        assertThat(Files.readAllLines(collections)).hasSizeGreaterThan(300);
    }

    /** Opening a jar takes half a millisecond of each start, and there is one for each driver. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void givenTheDefaultStore_whenRun_thenNoJarOfAnotherIsOpened() {
        assertThat(jarsOpenedBy("run", "nightly"))
                .anyMatch(jar -> jar.startsWith("lock-"))
                .noneMatch(this::isOfAnother);
        assertThat(jarsOpenedBy("run", "--store", cli.database(), "nightly"))
                .anyMatch(this::isOfAnother)
                .noneMatch(jar -> jar.startsWith("jline"));
    }

    private boolean isOfAnother(String jar) {
        return !jar.matches("(lock-cli|lock-core|lock-console|lock-store-flock|picocli|slf4j-api)[-.].*");
    }

    private List<String> jarsOpenedBy(String... verb) {
        // What lock has closed meanwhile is no link any more.
        String list = "for file in /proc/$PPID/fd/*; do readlink $file; done; true";
        var lock = cli.run(Stream.concat(Stream.of(verb), Stream.of("-c", list)).toArray(String[]::new));
        assertThat(lock.exitCode()).as(lock.err()).isZero();
        return lock.out()
                .lines()
                .filter(file -> file.endsWith(".jar"))
                .map(file -> file.substring(file.lastIndexOf('/') + 1))
                .toList();
    }

    private void startFrom(Path dist, String timeZone) {
        run(
                "env",
                "TZ=" + timeZone,
                "/bin/sh",
                "-c",
                "dist=$0; . src/main/launcher/start.sh",
                dist.toString(),
                "--help");
    }

    private void run(String... command) {
        var running = cli.start(List.of(command), "");
        assertThat(running.exitCode(Cli.PATIENCE_WITH_ARCHIVE))
                .as(running.err())
                .isZero();
    }

    private static List<Path> archives(Path dist) throws IOException {
        try (Stream<Path> files = Files.list(dist)) {
            return files.filter(file -> file.toString().endsWith(".jsa")).toList();
        }
    }
}
