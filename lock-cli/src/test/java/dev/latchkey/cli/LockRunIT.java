package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.latchkey.servers.PatientDsn;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LockRunIT extends CliFixture {

    @ParameterizedTest
    @CsvSource({"exit 0, 0", "exit 7, 7", "exit 255, 255", "kill -KILL $$, 137", "kill -TERM $$, 143"})
    void givenChild_whenItEnds_thenItsExitCode(String script, int exitCode) {
        assertThat(cli.run("run", "x", "-c", script).exitCode()).isEqualTo(exitCode);
    }

    /** The second locale is named as if it were of UTF-8, and not installed. */
    @ParameterizedTest
    @ValueSource(strings = {"C", "xx_XX.UTF-8"})
    void givenChild_whenRun_thenItHasInputOutputArgumentsAndEnvironment(String locale) {
        String script = "cat; echo \"$1|$2|$LOCK_NAME|$LOCK_EXPIRES|$LC_ALL\"; env";
        List<String> command = new ArrayList<>(List.of("env", "LC_ALL=" + locale, "LOCK_EXPIRES=1"));
        command.addAll(Cli.command("run", "größe 1", "--", "sh", "-c", script, "sh", "a  b", ""));
        var run = cli.start(command, "input\n");

        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.out())
                .startsWith("input\na  b||größe 1||" + locale + "\n")
                .containsPattern("(?m)^LOCK_TOKEN=[0-9]+$");
        assertThat(run.err()).isEmpty();
    }

    /** Java would give the command another text. The Latin letter alone is no UTF-8; the sign that Java has for it is. */
    @ParameterizedTest
    @CsvSource({
        "run x -- touch \"$T/ran-$latin\", 64",
        "run \"$latin\" -- touch \"$T/ran\", 64",
        "run \"$sign\" -- touch \"$T/ran-$sign\", 0"
    })
    @EnabledOnOs(OS.LINUX)
    void givenArgumentThatIsNotUtf8_whenRun_then64AndNothingIsDone(String arguments, int exitCode) {
        List<String> command = new ArrayList<>(List.of(
                "/bin/sh",
                "-c",
                "latin=$(printf '\\351'); sign=$(printf '\\357\\277\\275'); exec \"$@\" " + arguments,
                "sh"));
        command.addAll(Cli.command());

        var run = cli.start(command, "");

        assertThat(run.exitCode()).as(run.err()).isEqualTo(exitCode);
        assertThat(Files.exists(cli.file("locks"))).isEqualTo(exitCode == 0);
        assertThat(cli.file("ran")).doesNotExist();
        if (exitCode == 64) {
            assertThat(run.err())
                    .startsWith("lock: ")
                    .contains("is not valid UTF-8")
                    .hasLineCount(1);
        }
    }

    /** E15: a file of the JVM would be the command's input or output. */
    @ParameterizedTest
    @CsvSource({"<&-, cat, 0", ">&-, true, 0", "2>&-, true, 0", "<&- 2>&-, cat, 0"})
    void givenClosedDescriptors_whenRun_thenTheChildReadsAndWritesNothingElse(
            String redirection, String program, int exitCode) {
        var run = cli.start(closed(redirection, "run", "x", "--", program), "");

        assertThat(run.exitCode()).as(run.err()).isEqualTo(exitCode);
        assertThat(run.out()).isEmpty();
        assertThat(run.err()).isEmpty();
    }

    /** E15: an answer that nobody gets is a failure still. */
    @Test
    void givenClosedOutput_whenThereIsAnAnswer_then74() {
        var status = cli.start(closed(">&-", "status", "x"), "");

        assertThat(status.exitCode()).as(status.err()).isEqualTo(74);
    }

    private static List<String> closed(String redirection, String... arguments) {
        List<String> command = new ArrayList<>(List.of("sh", "-c", "exec \"$@\" " + redirection, "sh"));
        command.addAll(Cli.command(arguments));
        return command;
    }

    /** Any other code could be the command's. */
    @Test
    void givenALimitOfFilesThatIsTooLowForTheJvm_whenRun_then70InOneLine() {
        List<String> command = new ArrayList<>(List.of("/bin/sh", "-c", "ulimit -n 30; exec \"$@\"", "sh"));
        // That many jars have to be opened only for other stores than the default.
        command.addAll(Cli.command("run", "--store", cli.locks(), "x", "--", "true"));

        var run = cli.start(command, "");

        assertThat(run.exitCode()).as(run.err()).isEqualTo(70);
        assertThat(run.err()).startsWith("lock: unexpected ").hasLineCount(1);
    }

    @Test
    void givenLimitOfOpenFiles_whenRun_thenTheChildHasTheSame() {
        List<String> command = new ArrayList<>(List.of("/bin/sh", "-c", "ulimit -Sn 300; exec \"$@\"", "sh"));
        command.addAll(Cli.command("run", "x", "-c", "ulimit -Sn"));
        var run = cli.start(command, "");

        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.out()).isEqualTo("300\n");
    }

    @Test
    void givenStoreWithLease_whenRun_thenChildKnowsItsEnd() {
        var run = cli.run(
                "run", "--store", "in-memory", "--ttl", "1h", "x", "-c", "echo $((LOCK_EXPIRES - $(date +%s)))");

        assertThat(Integer.parseInt(run.out().strip())).isBetween(3_400, 3_600);
    }

    @Test
    void givenHeld_whenNotWaiting_thenConflictAndSaysWho() {
        var holder = holder();

        assertThat(cli.run("run", "-n", "x", "--", "true").exitCode()).isEqualTo(75);
        var conflict = cli.run("run", "-w", "0.2", "x", "--", "true");
        assertThat(conflict.exitCode()).isEqualTo(75);
        assertThat(conflict.err())
                .startsWith("lock: \"x\" is held by pid " + holder.process().pid())
                .hasLineCount(1);
        assertThat(cli.run("run", "-n", "-E", "9", "x", "--", "true").exitCode())
                .isEqualTo(9);
        var skipped =
                cli.run("run", "-n", "-x", "x", "--", "touch", cli.file("ran").toString());
        assertThat(skipped.exitCode()).isZero();
        assertThat(skipped.err()).isEmpty();
        assertThat(cli.file("ran")).doesNotExist();
        assertThat(cli.run("run", "-n", "-s", "x", "--", "true").exitCode()).isEqualTo(75);
        assertThat(cli.run("run", "-n", "y", "--", "true").exitCode()).isZero();
    }

    @Test
    void givenSharedHolder_whenShared_thenBoth() {
        cli.start("run", "-s", "x", "-c", ": >$T/ready; " + Cli.until("never"));
        cli.awaitFile("ready");

        assertThat(cli.run("run", "-n", "-s", "x", "--", "true").exitCode()).isZero();
        assertThat(cli.run("run", "-n", "x", "--", "true").exitCode()).isEqualTo(75);
    }

    @Test
    void givenTwoRuns_whenBothWait_thenOneAfterTheOther() {
        String script = "echo start >>$T/log; sleep 0.3; echo end >>$T/log";
        var runs = List.of(cli.start("run", "x", "-c", script), cli.start("run", "x", "-c", script));

        assertThat(runs).allSatisfy(run -> assertThat(run.exitCode()).isZero());
        assertThat(cli.read("log")).isEqualTo("start\nend\nstart\nend\n");
    }

    @Test
    void givenTenAtOnce_whenNotWaiting_thenExactlyOneRuns() {
        String script = "echo ran >>$T/log; " + Cli.until("go");
        var runs = IntStream.range(0, 10)
                .mapToObj(i -> cli.start("run", "-n", "x", "-c", script))
                .toList();
        await().atMost(Cli.PATIENCE)
                .until(() ->
                        runs.stream().filter(run -> run.process().isAlive()).count() == 1
                                && !cli.read("log").isEmpty());
        cli.touch("go");

        assertThat(runs.stream().map(Cli.Running::exitCode).sorted())
                .containsExactly(0, 75, 75, 75, 75, 75, 75, 75, 75, 75);
        assertThat(cli.read("log")).isEqualTo("ran\n");
    }

    @Test
    void givenThreePermits_whenFiveStartAtOnceWithoutWaiting_thenThreeRun() {
        String script = "echo \"$LOCK_NAME|$LOCK_TOKEN\" >>$T/log; " + Cli.until("go");
        String store = PatientDsn.sqlite(cli.database());
        var runs = IntStream.range(0, 5)
                .mapToObj(i -> cli.start("run", "--store", store, "-n", "--permits", "3", "x", "-c", script))
                .toList();
        await().atMost(Cli.PATIENCE)
                .until(() ->
                        runs.stream().filter(run -> run.process().isAlive()).count() == 3
                                && cli.read("log").lines().count() == 3);
        cli.touch("go");

        assertThat(runs.stream().map(Cli.Running::exitCode).sorted()).containsExactly(0, 0, 0, 75, 75);
        assertThat(cli.read("log").lines()).containsOnly("x (1 of 3 permits)|");
    }

    @Test
    void givenAllPermitsAreHeld_whenTheirRunnersAreKilled_thenTheNextOneRunsWhenTheLeasesEnd() {
        String store = PatientDsn.sqlite(cli.database());
        List<String> run = List.of("run", "--store", store, "--permits", "2", "--ttl", Cli.ttl(7), "x");
        var killed = IntStream.range(0, 2)
                .mapToObj(i -> cli.start(Cli.command(with(run, "-c", "echo $$ >$T/" + i + "; exec sleep 600")), ""))
                .toList();
        await().atMost(Cli.PATIENCE)
                .until(() -> cli.read("0").endsWith("\n") && cli.read("1").endsWith("\n"));
        assertThat(cli.run(with(run, "-n", "--", "true")).exitCode()).isEqualTo(75);

        killed.forEach(one -> one.signal("KILL"));

        assertThat(cli.run(with(run, "--", "true")).exitCode()).isZero();
        for (String pid : List.of(cli.read("0"), cli.read("1"))) {
            ProcessHandle.of(Long.parseLong(pid.strip())).ifPresent(ProcessHandle::destroyForcibly);
        }
    }

    private static String[] with(List<String> options, String... more) {
        return Stream.concat(options.stream(), Stream.of(more)).toArray(String[]::new);
    }

    @ParameterizedTest
    @CsvSource({"3, this store cannot count permits", "0, at least one has to run"})
    void givenPermitsThatCannotBe_whenRun_then64(String permits, String problem) {
        var run = cli.run("run", "--permits", permits, "x", "--", "true");

        assertThat(run.exitCode()).isEqualTo(64);
        assertThat(run.err()).contains(problem);
    }

    @Test
    void givenRunnerKilled_whenChildLives_thenLockIsFree() {
        var run = cli.start("run", "x", "-c", "echo $$ >$T/pid; exec sleep 600");
        await().atMost(Cli.PATIENCE).until(() -> cli.read("pid").endsWith("\n"));
        ProcessHandle child =
                ProcessHandle.of(Long.parseLong(cli.read("pid").strip())).orElseThrow();
        run.signal("KILL");
        assertThat(run.exitCode()).isEqualTo(137);

        assertThat(cli.run("run", "-n", "x", "--", "true").exitCode()).isZero();
        assertThat(child.isAlive()).isTrue();
        child.destroyForcibly();
    }

    @Test
    void givenCommandThatCannotRun_whenRun_then127Or126AndFree() throws IOException {
        Files.writeString(cli.file("plain"), "no program");

        var missing = cli.run("run", "x", "--", "no-such-command");
        assertThat(missing.exitCode()).isEqualTo(127);
        assertThat(missing.err())
                .isEqualTo("lock: cannot run \"no-such-command\": command not found; check its name and PATH\n");
        var plain = cli.run("run", "x", "--", cli.file("plain").toString());
        assertThat(plain.exitCode()).isEqualTo(126);
        assertThat(plain.err()).contains("Permission denied").hasLineCount(1);
    }

    @Test
    void givenVerbose_whenRun_thenSaysHowLongItWaited() {
        assertThat(cli.run("run", "--verbose", "x", "--", "true").err())
                .containsPattern("lock: acquired \"x\" after [0-9.]+ s");
    }

    @Test
    void givenMinHold_whenChildEndsSooner_thenStillHeld() {
        var run = cli.start("run", "--min-hold", "1h", "x", "-c", ": >$T/done");
        cli.awaitFile("done");

        assertThat(cli.run("run", "-n", "x", "--", "true").exitCode()).isEqualTo(75);
        assertThat(run.process().isAlive()).isTrue();
    }

    @Test
    void givenMinHold_whenItIsOver_thenReleased() {
        long start = System.nanoTime();
        assertThat(cli.run("run", "--min-hold", "1s", "x", "--", "true").exitCode())
                .isZero();

        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofSeconds(1));
        assertThat(cli.run("run", "-n", "x", "--", "true").exitCode()).isZero();
    }

    /** 76 of the command is not the 76 of a lost lock. */
    @Test
    void givenStoreWithLeases_whenMinHoldAndTheChildEndsWith76_thenTheStoreKeepsIt() {
        var run = cli.run("run", "--store", cli.database(), "--min-hold", "1h", "x", "-c", "exit 76");
        assertThat(run.exitCode()).as(run.err()).isEqualTo(76);

        assertThat(cli.run("status", "--store", cli.database(), "x").exitCode()).isEqualTo(75);
    }

    @Test
    void givenStoreWithLeases_whenMinHold_thenTheStoreKeepsIt() {
        var run = cli.run("run", "--store", cli.database(), "--min-hold", "1h", "x", "--", "true");
        assertThat(run.exitCode()).as(run.err()).isZero();

        var status = cli.run("status", "--store", cli.database(), "--json", "x");
        assertThat(status.exitCode()).isEqualTo(75);
        assertThat(status.out()).containsPattern("\"remainingMs\":35[0-9]{5}[,}]");
    }

    private Cli.Running holder() {
        var holder = cli.start("run", "x", "-c", ": >$T/ready; " + Cli.until("never"));
        cli.awaitFile("ready");
        return holder;
    }
}
