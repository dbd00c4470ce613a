package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.latchkey.testkit.TimeLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LockRunSignalsIT extends CliFixture {

    private static final int CTRL_C = 3;
    private static final int CTRL_BACKSLASH = 28;

    /** Notes each signal it gets, and ends with 3 once it is told to. */
    private static final String NOTING =
            "for s in HUP INT QUIT USR1 USR2 ALRM TERM XCPU VTALRM PROF IO PWR; do trap \"echo $s >>$T/got\" $s; done;"
                    + " echo $PPID >$T/runner; : >$T/ready; " + Cli.until("go") + "; exit 3";

    /** Starts what follows as process 1 of its own, as in a container. */
    private static final List<String> NEW_PIDS = "root".equals(System.getProperty("user.name"))
            ? List.of("unshare", "--pid", "--fork", "--mount-proc")
            : List.of("unshare", "--map-root-user", "--pid", "--fork", "--mount-proc");

    /**
     * Passes a signal on to lock, and then sends it to the whole group. Lock does not wait long for that: no other program goes
     * before this one, where that is allowed.
     */
    private static final List<String> TIMEOUT = List.of(
            "sh",
            "-c",
            "chrt -R -f 1 true 2>/dev/null && exec chrt -R -f 1 timeout 300 \"$@\"; exec timeout 300 \"$@\"",
            "sh");

    @ParameterizedTest
    @CsvSource({"HUP, 129", "INT, 130", "QUIT, 131", "USR1, 138", "USR2, 140", "TERM, 143"})
    void givenWaiting_whenSignal_thenAbortedAtOnce(String signal, int exitCode) {
        cli.start("run", "x", "-c", ": >$T/ready; " + Cli.until("go"));
        cli.awaitFile("ready");
        var waiting = cli.start(
                "run", "--verbose", "x", "--", "touch", cli.file("ran").toString());
        waiting.awaitErr("acquiring");

        waiting.signal(signal);

        // While the lock is held: else it would not end at all.
        assertThat(waiting.exitCode()).isEqualTo(exitCode);
        assertThat(waiting.out()).isEmpty();
        assertThat(cli.file("ran")).doesNotExist();
    }

    @ParameterizedTest
    @CsvSource({"HUP", "INT", "QUIT", "USR1", "USR2", "ALRM", "TERM", "XCPU", "VTALRM", "PROF", "IO", "PWR"})
    void givenChild_whenSignal_thenItGetsItOnceAndItsExitCodeCounts(String signal) {
        // The grace must not end while another lock command starts on a busy machine.
        var run = cli.start("run", "--kill-after=5m", "x", "-c", NOTING);
        cli.awaitFile("ready");

        run.signal(signal);
        await().atMost(Cli.PATIENCE).until(() -> !cli.read("got").isEmpty());
        assertThat(cli.run("run", "-n", "x", "--", "true").exitCode()).isEqualTo(75);
        cli.touch("go");

        assertThat(run.exitCode()).isEqualTo(3);
        assertThat(cli.read("got")).isEqualTo(signal + "\n");
        assertThat(run.out()).isEmpty();
    }

    /** E7: what cannot be handled ends lock, but leaves no file that tells everybody the address of the store. */
    @Test
    void givenChild_whenTheJvmCrashes_thenNoFileIsLeft() throws IOException {
        List<String> command = new ArrayList<>(List.of("sh", "-c", "ulimit -c 0; cd $T && exec \"$@\"", "sh"));
        command.addAll(Cli.command("run", "x", "-c", ": >$T/ready; " + Cli.until("go")));
        var run = cli.start(command, "");
        cli.awaitFile("ready");

        run.signal("SEGV");
        assertThat(run.exitCode()).isEqualTo(134);
        cli.touch("go");

        assertThat(run.out()).isEmpty();
        try (Stream<Path> files = Files.list(directory)) {
            assertThat(files.map(file -> file.getFileName().toString())).noneMatch(name -> name.startsWith("hs_err"));
        }
    }

    /** E13: that somebody has ended the process in our group that tells, says nothing of a later signal. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void givenTheProbeWasEndedEarlier_whenTerm_thenChildGetsIt() {
        var run = cli.start("run", "--kill-after=5m", "x", "-c", NOTING);
        cli.awaitFile("ready");
        await().atMost(Cli.PATIENCE).until(() -> probe(run).isPresent() && isWatchingProbe(run));
        Cli.signal("TERM", probe(run).orElseThrow().pid());
        await().atMost(Cli.PATIENCE).until(() -> !isWatchingProbe(run));
        // Later, from when lock has noted the end, than what may be one signal to both.
        await().atMost(Cli.PATIENCE).pollDelay(Duration.ofMillis(2_500)).until(() -> true);

        run.signal("TERM");
        await().atMost(Cli.PATIENCE).until(() -> !cli.read("got").isEmpty());
        cli.touch("go");

        assertThat(run.exitCode()).isEqualTo(3);
        assertThat(cli.read("got")).isEqualTo("TERM\n");
    }

    /** As on a busy machine; this one dies only when it is killed. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void givenTheProbeIsSlowToDie_whenTheGroupGetsTerm_thenChildGetsItOnce() {
        List<String> command = new ArrayList<>(List.of("setsid"));
        command.addAll(Cli.command("run", "--verbose", "--kill-after=5m", "x", "-c", NOTING));
        var run = cli.start(command, "");
        cli.awaitFile("ready");
        await().atMost(Cli.PATIENCE).until(() -> probe(run).isPresent());
        long probe = probe(run).orElseThrow().pid();
        Cli.signal("STOP", probe);
        // Before that, it would still die of TERM.
        Path status = Path.of("/proc", Long.toString(probe), "status");
        await().atMost(Cli.PATIENCE).until(() -> Files.readString(status).contains("\nState:\tT"));

        Cli.signal("TERM", -run.process().pid());
        run.awaitErr("got TERM, as the whole process group did");
        cli.touch("go");

        assertThat(run.exitCode()).isEqualTo(3);
        assertThat(cli.read("got")).isEqualTo("TERM\n");
    }

    /** Whether lock has its thread still that notes the end of the probe. */
    private static boolean isWatchingProbe(Cli.Running run) throws IOException, InterruptedException {
        String pid = Long.toString(run.process().pid());
        return new ProcessBuilder("sh", "-c", "grep -qsx lock-probe /proc/$0/task/*/comm", pid)
                        .start()
                        .waitFor()
                == 0;
    }

    private static Optional<ProcessHandle> probe(Cli.Running run) {
        return run.process()
                .children()
                .filter(child -> child.info().command().orElse("").endsWith("/cat"))
                .findFirst();
    }

    /** E14: what a command has let go of is its own affair, before a signal as at its end. */
    @Test
    void givenADescendantWhoseParentHasEnded_whenTerm_thenItIsNotWaitedFor() {
        var run = cli.start(
                "run",
                "x",
                "-c",
                "(sleep 600 >/dev/null 2>&1 & echo $! >$T/pid); : >$T/ready; while :; do sleep 0.05; done");
        cli.awaitFile("ready");

        run.signal("TERM");

        assertThat(run.exitCode()).isEqualTo(143);
        ProcessHandle left =
                ProcessHandle.of(Long.parseLong(cli.read("pid").strip())).orElseThrow();
        assertThat(left.isAlive()).isTrue();
        left.destroyForcibly();
    }

    /** E16: without the list of processes nothing could be signalled, and lock would exit with 0 while the command runs. */
    @ParameterizedTest
    @CsvSource({"--mount, mount -t tmpfs none /proc", "--pid, true"})
    @EnabledIf(value = "canBeProcess1", disabledReason = "lock cannot be process 1 here: be root on Linux")
    void givenNoListOfProcesses_whenRun_thenRefused(String unshare, String before) {
        List<String> command = new ArrayList<>(NEW_PIDS.subList(0, NEW_PIDS.indexOf("--pid")));
        // A java that cannot look up where it is needs to be told where its libraries are.
        String libraries = "LD_LIBRARY_PATH=" + Path.of(System.getProperty("java.home"), "lib");
        command.addAll(List.of(unshare, "--fork", "env", libraries, "sh", "-c", before + " && exec \"$@\"", "sh"));
        command.addAll(Cli.command("run", "x", "--", "touch", cli.file("ran").toString()));
        var run = cli.start(command, "");

        assertThat(run.exitCode()).as(run.err()).isEqualTo(69);
        assertThat(run.err()).startsWith("lock: /proc ").hasLineCount(1);
        assertThat(cli.file("ran")).doesNotExist();
    }

    /** The JVM of Java 17 blocks QUIT in what it starts; a shell with traps would not show that. */
    @Test
    void givenChildWithoutTraps_whenQuit_thenItEndsOfIt() {
        var run = cli.start("run", "x", "-c", "ulimit -c 0; : >$T/ready; exec sleep 600");
        cli.awaitFile("ready");

        run.signal("QUIT");

        assertThat(run.exitCode()).isEqualTo(131);
    }

    @Test
    void givenGrandchild_whenTerm_thenItGetsItAndLockIsKeptUntilItIsGone() {
        String grandchild = "trap 'echo TERM >>$T/got; " + Cli.until("go") + "; exit' TERM;" + " : >$T/ready; "
                + Cli.until("never");
        // The child itself ends of TERM at once. The grace must not end while another lock command starts.
        var run = cli.start("run", "--kill-after", "1h", "x", "--", "sh", "-c", "sh -c \"$0\" & wait", grandchild);
        cli.awaitFile("ready");

        run.signal("TERM");
        await().atMost(Cli.PATIENCE).until(() -> !cli.read("got").isEmpty());
        assertThat(cli.run("run", "-n", "x", "--", "true").exitCode()).isEqualTo(75);
        cli.touch("go");

        assertThat(run.exitCode()).isEqualTo(143);
        assertThat(cli.run("run", "-n", "x", "--", "true").exitCode()).isZero();
    }

    /** In a container: what the child has started is then our child, and Java has nobody reap it. */
    @Test
    @EnabledIf(value = "canBeProcess1", disabledReason = "lock cannot be process 1 here: be root on Linux")
    void givenProcess1_whenGrandchildEndsAfterItsParent_thenWeEnd() {
        String grandchild = "trap 'while kill -0 $PPID; do sleep 0.05; done; exit' TERM; : >$T/ready;"
                + " while :; do sleep 0.05; done";
        List<String> command = new ArrayList<>(NEW_PIDS);
        command.addAll(Cli.command("run", "--kill-after=5m", "x", "--", "sh", "-c", "sh -c \"$0\" & wait", grandchild));
        var run = cli.start(command, "");
        cli.awaitFile("ready");

        long lock = run.process().children().findFirst().orElseThrow().pid();
        Cli.signal("TERM", lock);

        assertThat(run.exitCode()).isEqualTo(143);
        assertThat(run.err()).doesNotContain("killing");
    }

    static boolean canBeProcess1() throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(NEW_PIDS);
        command.add("true");
        boolean allowed = OS.LINUX.isCurrentOs()
                && new ProcessBuilder(command)
                                .redirectErrorStream(true)
                                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                                .start()
                                .waitFor()
                        == 0;
        if (!allowed) {
            System.err.println(
                    "NOT RUN: lock as process 1. To run it, be root on Linux, or have " + NEW_PIDS + " allowed");
        }
        return allowed;
    }

    @Test
    void givenChildThatIgnoresTerm_whenKillAfterIsOver_thenAllAreKilled() {
        var run = cli.start(
                "run",
                "--kill-after",
                "300ms",
                "x",
                "-c",
                "trap '' TERM; sleep 61 & echo $! >$T/pid; : >$T/ready; wait; wait");
        cli.awaitFile("ready");

        run.signal("TERM");

        assertThat(run.exitCode()).isEqualTo(137);
        assertThat(run.err()).contains("--kill-after");
        // Its new parent may not have asked for its exit code yet.
        assertThat(ProcessHandle.of(Long.parseLong(cli.read("pid").strip()))
                        .filter(process -> !new ProcessTree(process).isGone()))
                .isEmpty();
    }

    @Test
    void givenChildThatIgnoresTerm_whenSecondTerm_thenKilled() {
        var run =
                cli.start("run", "--verbose", "--kill-after", "1h", "x", "-c", "trap '' TERM; : >$T/ready; sleep 600");
        cli.awaitFile("ready");

        run.signal("TERM");
        run.awaitErr("forwarding");
        // Later than the second in which two count as one.
        await().pollDelay(Duration.ofMillis(1_100)).until(() -> true);
        run.signal("TERM");

        assertThat(run.exitCode()).isEqualTo(137);
        assertThat(run.err()).contains("second TERM");
    }

    /** It passes the signal on to lock, and then to the group. */
    @ParameterizedTest
    @ValueSource(strings = {"TERM", "INT", "HUP"})
    @EnabledOnOs(OS.LINUX)
    void givenTimeoutCommand_whenItSignalsTheGroup_thenChildGetsItOnce(String signal) {
        List<String> command = new ArrayList<>(TIMEOUT);
        command.addAll(Cli.command("run", "--verbose", "--kill-after=5m", "x", "-c", NOTING));
        var run = cli.start(command, "");
        cli.awaitFile("ready");

        run.signal(signal);
        run.awaitErr("got " + signal + ", as the whole process group did");
        // By then, a second one would have been handled.
        Cli.signal("USR1", Long.parseLong(cli.read("runner").strip()));
        await().atMost(Cli.PATIENCE).until(() -> cli.read("got").contains("USR1"));
        cli.touch("go");
        int unused = run.exitCode();

        assertThat(cli.read("got")).isEqualTo(signal + "\nUSR1\n");
    }

    /** What is in a group of its own has to hear of the end before it is killed. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void givenAProcessInAGroupOfItsOwn_whenTheGroupGetsTerm_thenBothGetItOnce() {
        String grandchild = "trap 'echo grandchild >>$T/got; exit' TERM; : >$T/ready; while :; do sleep 0.05; done";
        List<String> command = new ArrayList<>(TIMEOUT);
        command.addAll(Cli.command(
                "run",
                "--kill-after=1h",
                "x",
                "--",
                "sh",
                "-c",
                "trap 'echo child >>$T/got' TERM; setsid sh -c \"$0\" & wait; wait; echo end >>$T/got",
                grandchild));
        var run = cli.start(command, "");
        cli.awaitFile("ready");

        run.signal("TERM");
        await().atMost(Cli.PATIENCE).until(() -> cli.read("got").contains("end"));
        int unused = run.exitCode();

        assertThat(cli.read("got").lines()).containsExactlyInAnyOrder("child", "grandchild", "end");
    }

    /** Its parent ends of the same signal, before lock can look what it has started. */
    @ParameterizedTest
    @ValueSource(strings = {"sh", "setsid sh"})
    @EnabledOnOs(OS.LINUX)
    void givenAChildThatEndsOfTerm_whenTheGroupGetsIt_thenLockIsKeptUntilTheGrandchildIsGone(String start) {
        String grandchild = "trap 'echo TERM >>$T/got; " + Cli.until("go") + "; exit' TERM;" + " : >$T/ready; "
                + Cli.until("never");
        // It is seen once a second: two later it is known.
        List<String> command = new ArrayList<>(TIMEOUT);
        command.addAll(
                Cli.command("run", "--kill-after=1h", "x", "--", "sh", "-c", start + " -c \"$0\" & wait", grandchild));
        var run = cli.start(command, "");
        cli.awaitFile("ready");
        await().pollDelay(TimeLimits.scaled(Duration.ofSeconds(3)))
                .atMost(Cli.PATIENCE)
                .until(() -> true);

        run.signal("TERM");
        await().atMost(Cli.PATIENCE).until(() -> !cli.read("got").isEmpty());
        assertThat(cli.run("run", "-n", "x", "--", "true").exitCode()).isEqualTo(75);
        cli.touch("go");

        int unused = run.exitCode();
        assertThat(cli.read("got")).isEqualTo("TERM\n");
        assertThat(cli.run("run", "-n", "x", "--", "true").exitCode()).isZero();
    }

    /** Each signal takes a while, for it has to be found out who got it. */
    @Test
    void givenAFloodOfSignals_whenMaxHoldIsOver_thenTheCommandIsEndedAllTheSame() throws IOException {
        // It has to ignore TERM before it gets one.
        var run = cli.start(
                "run",
                "--max-hold=" + Cli.ttl(5),
                "--kill-after=200ms",
                "x",
                "-c",
                "trap '' USR1 USR2 TERM; : >$T/ready; sleep 600");
        cli.awaitFile("ready");
        Process flood = new ProcessBuilder(
                        "sh",
                        "-c",
                        "while kill -s USR1 $0 && kill -s USR2 $0; do sleep 0.01; done",
                        Long.toString(run.process().pid()))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            assertThat(run.exitCode()).isEqualTo(76);
        } finally {
            flood.destroyForcibly();
        }
    }

    @ParameterizedTest
    @CsvSource({CTRL_C + ", INT", CTRL_BACKSLASH + ", QUIT"})
    @EnabledOnOs(OS.LINUX)
    void givenTerminal_whenKeyIsTyped_thenChildGetsItOnce(int key, String signal) {
        var run = cli.startInTerminal("run", "--verbose", "x", "-c", NOTING);
        cli.awaitFile("ready");

        run.type(key);
        await().atMost(Cli.PATIENCE).until(() -> run.out().contains("as the whole process group did"));
        cli.touch("go");

        assertThat(run.exitCode()).isEqualTo(3);
        assertThat(cli.read("got")).isEqualTo(signal + "\n");
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void givenTerminal_whenRunnerAloneIsSignalled_thenChildGetsItOnce() {
        var run = cli.startInTerminal("run", "--kill-after=5m", "x", "-c", NOTING);
        cli.awaitFile("ready");

        Cli.signal("INT", Long.parseLong(cli.read("runner").strip()));
        await().atMost(Cli.PATIENCE).until(() -> !cli.read("got").isEmpty());
        cli.touch("go");

        assertThat(run.exitCode()).isEqualTo(3);
        assertThat(cli.read("got")).isEqualTo("INT\n");
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void givenTerminal_whenCtrlCWhileWaiting_thenAborted() {
        cli.start("run", "x", "-c", ": >$T/ready; " + Cli.until("never"));
        cli.awaitFile("ready");
        var waiting = cli.startInTerminal("run", "--verbose", "x", "--", "true");
        await().atMost(Cli.PATIENCE).until(() -> waiting.out().contains("acquiring"));

        waiting.type(CTRL_C);

        assertThat(waiting.exitCode()).isEqualTo(130);
    }
}
