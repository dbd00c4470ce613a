package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LockUsageIT extends CliFixture {

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "run --ttl soon x -- true; \"soon\" is not a duration",
                "run --ttl 1ms x -- true; out of range",
                "run -w -1 x -- true; is not a duration",
                "run -n -w 5 x -- true; exclude each other",
                "run -E 256 x -- true; 0 to 255",
                "run --on-lost never x -- true; --on-lost",
                "run --nonsense x -- true; --nonsense",
                "run x; no command",
                "run x psql -s; put -- before the command",
                "run x git checkout -- f; put -- before the command",
                "run; NAME",
                "lead x; no command to run under \"x\": lock lead x -- COMMAND",
                "lead --ttl 9s x -- true; --kill-after of 5 s needs more than 9 s",
                "lead -n x -- true; -n",
                "status; NAME",
                "frobnicate; frobnicate",
                "run --store nosuch://me:secret@host x -- true; nosuch",
                "run --store flock:relative x -- true; flock:///var/locks",
                "release mylock lk1.c2VjcmV0; lk1.…",
                "status mylock lk1.c2VjcmV0secret; lk1.…",
                "run --nonsense=lk1.secret x -- true; lk1.…",
                "run --store jdbc:postgresql://me:secret@host/db x -- true; postgresql",
                "refresh; LATCHKEY_KEY",
                "release lk1.nonsense; key",
            })
    void givenWrongArguments_whenRun_then64AndOneLineThatSaysWhat(String arguments, String part) {
        var run = cli.run(arguments.split(" "));

        assertThat(run.exitCode()).as(run.err()).isEqualTo(64);
        assertThat(run.err())
                .startsWith("lock: ")
                .contains(part)
                .hasLineCount(1)
                .doesNotContain("secret");
        assertThat(run.out()).isEmpty();
    }

    @Test
    void givenNoArguments_whenRun_then64() {
        assertThat(cli.run().exitCode()).isEqualTo(64);
    }

    @Test
    void givenTooLongName_whenRun_then64() {
        var run = cli.run("run", "x".repeat(20_000), "--", "true");

        assertThat(run.exitCode()).isEqualTo(64);
        assertThat(run.err()).hasLineCount(1).hasSizeLessThan(500);
    }

    @Test
    void givenOddNames_whenRun_thenTheyWork() {
        for (String name : new String[] {"", "/", "../x", "🔒", "x".repeat(10_000)}) {
            assertThat(cli.run("run", name, "--", "true").exitCode()).as(name).isZero();
        }
    }

    @Test
    void givenDashesBeforeTheNameOrWithinTheCommand_whenRun_thenTheyWork() {
        assertThat(cli.run("run", "--", "x", "test", "-n", "y").exitCode()).isZero();
        assertThat(cli.run("run", "x", "--", "echo", "-n", "--", "-s").out()).isEqualTo("-- -s");
    }

    @Test
    void givenDirectoryThatCannotBe_whenRun_then69() {
        var run = cli.run("run", "--store", "flock:///dev/null/locks", "x", "--", "true");

        assertThat(run.exitCode()).as(run.err()).isEqualTo(69);
        assertThat(run.err()).startsWith("lock: ").contains("/dev/null/locks").hasLineCount(1);
    }

    /** E12: what stands behind a line break would look like a message of ours. */
    @ParameterizedTest
    @ValueSource(strings = {"flock:///dev/null/x\nlock: all is well", "nosuch\nlock: all is well"})
    void givenStoreWithALineBreak_whenRun_thenOneLine(String store) {
        var run = cli.run("run", "--store", store, "x", "--", "true");

        assertThat(run.err()).startsWith("lock: ").hasLineCount(1);
        assertThat(run.exitCode()).isIn(64, 69);
    }

    /** E8: a driver's own logging repeats addresses it cannot read, with the password. */
    @Test
    void givenPasswordBehindAnAt_whenTheDriverCannotReadIt_thenItIsNotShown() {
        var run = cli.run(
                "run", "--verbose", "--store", "jdbc:postgresql://me:5432secret@localhost:1/db", "x", "--", "true");

        assertThat(run.exitCode()).isNotZero();
        assertThat(run.err()).startsWith("lock: ").doesNotContain("5432secret");
    }

    /** Nobody may write there, not even root. */
    @Test
    void givenDirectoryThatMayNotBeWritten_whenRun_then77() throws Exception {
        Path unwritable = Files.createDirectory(
                directory.resolve("unwritable"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("r-xr-xr-x")));
        Path chosen = Files.isWritable(unwritable) ? Path.of("/proc/self") : unwritable;

        var run = cli.run("run", "--store", "flock://" + chosen, "x", "--", "true");

        assertThat(run.exitCode()).as(run.err()).isEqualTo(77);
        assertThat(run.err()).contains("is not writable").hasLineCount(1);
    }

    /** C27: whatever the list of stores names is there; these cannot be reached. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "mongodb://127.0.0.1:1/db?collection=locks&serverSelectionTimeoutMS=500",
                "zookeeper://127.0.0.1:1",
                "etcd://127.0.0.1:1",
                "dynamodb://eu-central-1/locks?timeout=500ms&endpoint=http://127.0.0.1:1",
                "memcached://127.0.0.1:1",
                "redis://127.0.0.1:1",
                "postgresql://127.0.0.1:1/db",
                "postgresql+advisory://127.0.0.1:1/db",
                "mysql+getlock://127.0.0.1:1/db",
                "mariadb://127.0.0.1:1/db"
            })
    void givenStoreThatIsAway_whenRun_then69AndOneLine(String store) {
        var run = cli.run("run", "-n", "--store", store, "x", "--", "true");

        assertThat(run.exitCode()).as(run.err()).isEqualTo(69);
        assertThat(run.err()).startsWith("lock: ").hasLineCount(1).doesNotContain("artifact");
    }

    @Test
    void givenVerbose_whenItFails_thenStackTrace() {
        assertThat(cli.run("run", "--verbose", "--store", "nosuch", "x", "--", "true")
                        .err())
                .contains("\tat dev.latchkey");
    }

    @ParameterizedTest
    @CsvSource({
        "--help",
        "run --help",
        "lead --help",
        "acquire --help",
        "refresh --help",
        "release --help",
        "status --help",
        "ls --help",
        "who --help",
        "break --help",
        "serve --help",
        "help run"
    })
    void givenHelp_whenRun_thenItTeaches(String arguments) {
        var help = cli.run(arguments.split(" "));

        assertThat(help.exitCode()).isZero();
        assertThat(help.out()).containsAnyOf("Exit codes", "Examples");
        assertThat(help.out().lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(100));
    }

    @ParameterizedTest
    @ValueSource(strings = {"run", "lead", "acquire"})
    void givenHelp_whenRun_thenTheTableOfExitCodesStandsStraight(String verb) {
        var help = cli.run(verb, "--help");

        String table = help.out().substring(help.out().indexOf("Exit codes:"));
        assertThat(table.lines().skip(1).takeWhile(line -> !line.isBlank()))
                .isNotEmpty()
                .allSatisfy(line -> assertThat(line).startsWith("  "));
    }

    @Test
    void givenVersion_whenRun_thenVersion() {
        assertThat(cli.run("--version").out()).matches("lock [0-9].*\n");
    }
}
