package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LockUsageIT {

    @TempDir
    Path directory = Path.of("");

    private Cli cli = new Cli(directory);

    @BeforeEach
    void setUp() {
        cli = new Cli(directory);
    }

    @AfterEach
    void tearDown() {
        cli.close();
    }

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
                "status; NAME",
                "frobnicate; frobnicate",
                "run --store nosuch://me:secret@host x -- true; nosuch",
                "run --store mongodb://me:secret@host x -- true; lock-store-mongodb",
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
        "acquire --help",
        "refresh --help",
        "release --help",
        "status --help",
        "help run"
    })
    void givenHelp_whenRun_thenItTeaches(String arguments) {
        var help = cli.run(arguments.split(" "));

        assertThat(help.exitCode()).isZero();
        assertThat(help.out()).containsAnyOf("Exit codes", "Examples");
        assertThat(help.out().lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(100));
    }

    @ParameterizedTest
    @ValueSource(strings = {"run", "acquire"})
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
