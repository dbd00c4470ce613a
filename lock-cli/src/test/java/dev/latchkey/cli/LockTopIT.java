package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** In a real terminal, that of tmux, and where there is none. */
class LockTopIT extends CliFixture {

    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    @Test
    void given80x24_whenShown_thenMostWaitersFirstAndNothingWraps() {
        Tmux tmux = top("500");

        List<String> lines = tmux.lines();

        assertThat(lines.get(0)).startsWith("plenty   500 held, 15 waiting, the longest for 1m ");
        assertThat(lines.get(3)).startsWith("job-000400 ");
        assertThat(lines.get(4)).startsWith("job-000300 ");
        assertThat(lines).hasSize(24).allSatisfy(line -> assertThat(line).hasSizeLessThan(80));
        assertThat(lines.get(23)).startsWith("/ filter");
        assertThat(tmux.screenState()).as("alternate screen, cursor").isEqualTo("1 0");
    }

    @Test
    void givenResized_thenTheScreenIsFilledAnew() {
        Tmux tmux = top("500");

        for (int[] size : new int[][] {{130, 40}, {40, 8}, {20, 3}, {80, 24}}) {
            tmux.resize(size[0], size[1]);
            boolean isWide = size[0] > 110;
            List<String> unused = tmux.awaitLines(
                    size[0] + "x" + size[1],
                    lines -> lines.size() == size[1]
                            && lines.get(size[1] - 1).startsWith("/ filter")
                            && count(lines, "/ filter") == 1
                            && count(lines, "job-000400") == 1
                            && lines.stream().anyMatch(line -> line.contains("TOKEN")) == isWide);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"xterm-256color", "screen", "linux", "vt100"})
    void givenATerminal_whenNamesAreOdd_thenEachLineIsAtItsPlace(String type) {
        List<String> command = new ArrayList<>(plenty("odd"));
        command.addAll(0, List.of("env", "TERM=" + type));

        Tmux tmux = shell(command);

        List<String> unused = tmux.awaitLines(
                type,
                lines -> lines.size() == 24
                        && lines.get(2).startsWith("NAME ")
                        && lines.get(23).startsWith("/ filter")
                        && count(lines, "🔒 größer/../x ") == 1
                        && lines.stream()
                                        .filter(line -> line.contains(" orders"))
                                        .count()
                                == 9);
    }

    @Test
    void givenATinyTerminal_whenKeysArePressed_thenItGoesOn() {
        Tmux tmux = top("odd");

        for (int[] size : new int[][] {{1, 1}, {2, 2}, {20, 5}, {5, 1}, {1, 24}, {200, 1}}) {
            tmux.resize(size[0], size[1]);
            tmux.press("b", "x", "Enter", "/", "End", "x", "BSpace", "Escape", "NPage", "End", "PPage", "Home");
        }
        tmux.resize(80, 24);

        tmux.awaitLines(
                "all",
                lines ->
                        count(lines, "NAME") == 1 && lines.get(lines.size() - 1).startsWith("/ filter"));
        assertThat(tmux.lines()).noneMatch(line -> line.contains("code "));
    }

    /** Each change of the terminal's mode is slow, and followed by one key: no mode may end the keyboard when no other comes. */
    @Test
    void givenAKeyBetweenTwoChangesOfTheMode_whenResized_thenItGoesOn() throws Exception {
        Path commands = Files.createDirectory(directory.resolve("commands"));
        Path stty = Files.writeString(
                commands.resolve("stty"),
                "#!/bin/sh\n/bin/stty \"$@\" || exit\n[ ! -e $T/slow ] || { tmux -S $T/tmux send-keys x; sleep 0.2; }\n");
        assertThat(stty.toFile().setExecutable(true)).isTrue();
        List<String> command = new ArrayList<>(plenty("3"));
        command.addAll(0, List.of("env", "PATH=" + commands + ":" + System.getenv("PATH")));
        Tmux tmux = shell(command);
        tmux.awaitText("q quit");
        tmux.type("/");
        tmux.awaitText("names that begin with");

        Files.createFile(directory.resolve("slow"));
        tmux.resize(80, 23);

        tmux.awaitLines(
                "23 lines, or the end",
                lines -> Files.exists(directory.resolve("after"))
                        || (lines.size() == 23 && lines.get(22).startsWith("names that begin with: xx")));
        Files.delete(directory.resolve("slow"));
        Cli.signal(
                "TERM",
                Long.parseLong(Files.readString(directory.resolve("pid")).strip()));
        assertRestored(tmux, 143);
    }

    private static long count(List<String> lines, String start) {
        return lines.stream().filter(line -> line.startsWith(start)).count();
    }

    @Test
    void givenKeys_whenFilteredAndChosen_thenShown() {
        Tmux tmux = top("300");

        tmux.type("/job-00010");
        tmux.awaitText("names that begin with: job-00010");
        tmux.awaitLines("ten", lines -> count(lines, "job-") == 10);
        tmux.press("Enter");
        tmux.awaitText("10 whose names begin with");
        tmux.press("j", "j", "b");
        // By waiters, then by name: that of 102.
        tmux.awaitText("Type its fencing token 1102");
        tmux.press("Escape", "Escape");
        tmux.awaitLines("all", lines -> count(lines, "job-") > 10);
        tmux.press("NPage");
        tmux.pressUntil("End", "job-000299");
        tmux.pressUntil("Home", "job-000200");
    }

    @Test
    void givenTheTokenIsTyped_thenThatHoldIsEnded_andWithAnotherNothing() {
        Tmux tmux = top("3");
        tmux.press("b");
        tmux.awaitText("Type its fencing token 1000");
        tmux.type("999");
        tmux.press("Enter");
        tmux.awaitText("nothing was ended");
        tmux.awaitText("3 held");

        tmux.press("b");
        tmux.type("1000");
        tmux.press("Enter");

        tmux.awaitText("ended the hold of \"job-000000\"");
        tmux.awaitText("2 held");
        assertThat(tmux.lines()).noneMatch(line -> line.startsWith("job-000000"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"q", "C-c", "TERM", "HUP"})
    void givenTheEnd_thenTheTerminalIsAsItWas(String end) throws Exception {
        Tmux tmux = top("3");
        tmux.press("C-z", "/", "x");
        tmux.awaitText("names that begin with: x");
        tmux.press("Escape");

        if (end.length() > 1 && !end.startsWith("C-")) {
            Cli.signal(
                    end,
                    Long.parseLong(Files.readString(directory.resolve("pid")).strip()));
        } else {
            tmux.press(end);
        }

        assertRestored(
                tmux,
                switch (end) {
                    case "q" -> 0;
                    case "C-c" -> 130;
                    case "HUP" -> 129;
                    default -> 143;
                });
    }

    /** The shell has used the terminal meanwhile, in its own mode. */
    @Test
    void givenStopped_whenContinued_thenItGoesOn() throws Exception {
        Tmux tmux = top("3");
        Cli.signal(
                "STOP",
                Long.parseLong(Files.readString(directory.resolve("pid")).strip()));
        await().atMost(Cli.PATIENCE).until(() -> Files.exists(directory.resolve("after")));

        tmux.type("fg");
        // The terminal is as it was left: not each shell sets its own mode.
        tmux.press("C-j");

        tmux.awaitLines(
                "all",
                lines -> lines.get(2).startsWith("NAME")
                        && lines.get(lines.size() - 1).startsWith("/ filter"));
        tmux.press("q");
        await().atMost(Cli.PATIENCE).until(() -> tmux.screenState().equals("0 1"));
    }

    private void assertRestored(Tmux tmux, int exitCode) throws Exception {
        await().atMost(Cli.PATIENCE).until(() -> Files.exists(directory.resolve("after")));
        await().atMost(Cli.PATIENCE)
                .until(() -> Files.readString(directory.resolve("after")).endsWith("\n"));
        assertThat(directory.resolve("code")).hasContent(exitCode + "\n");
        assertThat(Files.readString(directory.resolve("after")))
                .isEqualTo(Files.readString(directory.resolve("before")));
        assertThat(tmux.screenState()).as("alternate screen, cursor").isEqualTo("0 1");
    }

    @Test
    void givenTheStoreFailsFirst_thenSaidAsByLsAndTheTerminalIsAsItWas() throws Exception {
        Files.createFile(directory.resolve("away"));
        Tmux tmux = shell(plenty("3@" + directory.resolve("away")));

        assertRestored(tmux, 69);
        assertThat(tmux.lines()).anyMatch(line -> line.contains("away: redis://me:…@host"));
    }

    @Test
    void givenTheStoreFailsLater_thenWhatWasHeldStays_untilItIsBack() throws Exception {
        Tmux tmux = top("3@" + directory.resolve("away"));

        Files.createFile(directory.resolve("away"));
        tmux.awaitText("the store fails");
        assertThat(tmux.lines()).anyMatch(line -> line.contains("job-000002"));
        assertThat(String.join("", tmux.lines())).contains("redis://me:…@host").doesNotContain("hidden-word");

        Files.delete(directory.resolve("away"));
        tmux.awaitLines("back", lines -> lines.get(1).isBlank());
    }

    @Test
    void givenNamesThatATerminalObeys_thenNoneReachesIt() {
        List<String> command = new ArrayList<>(plenty("odd"));
        command.addAll(0, List.of("env", "TERM=xterm"));
        var top = cli.startInTerminal(command);
        await().atMost(Cli.PATIENCE).until(() -> top.out().contains("quoted"));
        top.type('/');
        await().atMost(Cli.PATIENCE).until(() -> top.out().contains("begin with"));
        top.type(27);
        top.type('q');

        assertThat(top.exitCode()).as(top.out()).isZero();
        assertThat(top.out())
                .contains("\u001b[?1049h", "\\u001b]0;title\\u0007")
                .doesNotContain("\u001b]0", "orders\u001b", "\u009b", "\u202e", "\u0007");
    }

    @Test
    void givenNoTerminal_whenStarted_thenPlainLinesOnce() {
        var top = cli.start(plenty("500"), "");

        assertThat(top.exitCode()).as(top.err()).isZero();
        assertThat(top.out().lines()).hasSize(501);
        assertThat(top.out().lines().limit(3))
                .satisfiesExactly(
                        heading -> assertThat(heading).matches("NAME +MODE +HELD +LEASE +WAITING +TOKEN +OWNER"),
                        first -> assertThat(first).startsWith("job-000400 "),
                        second -> assertThat(second).startsWith("job-000300 "));
        assertThat(top.out()).doesNotContain("\u001b");
        assertThat(top.err()).isEmpty();
    }

    @Test
    void givenJson_whenStarted_thenOneObjectOnEachLine() {
        List<String> command = new ArrayList<>(plenty("300"));
        command.addAll(List.of("--json", "job-00010"));

        var top = cli.start(command, "");

        assertThat(top.exitCode()).as(top.err()).isZero();
        assertThat(top.out().lines()).hasSize(10).allMatch(line -> line.startsWith("{\"resource\":\"job-00010"));
    }

    @Test
    void givenATerminalWithoutKeyboardOrThatCannotMoveItsCursor_thenPrintedOnceAndSaid() {
        List<String> dumb = new ArrayList<>(plenty("3"));
        dumb.addAll(0, List.of("env", "TERM=dumb"));
        var first = cli.startInTerminal(dumb);
        assertThat(first.exitCode()).isZero();
        assertThat(first.out()).contains("job-000002", "printed once").doesNotContain("\u001b");

        List<String> deaf = new ArrayList<>(List.of("env", "TERM=xterm", "sh", "-c", "exec \"$@\" </dev/null", "sh"));
        deaf.addAll(plenty("3"));
        var second = cli.startInTerminal(deaf);
        assertThat(second.exitCode()).isZero();
        assertThat(second.out()).contains("job-000002", "printed once").doesNotContain("\u001b");
    }

    /** By the launcher, which names the jars; over a store in which something is held. */
    @Test
    void givenARealStore_whenStartedByTheLauncher_thenWhatIsHeldIsShown_andControlBackslashEndsIt() throws Exception {
        var holder =
                cli.start("run", "--store", cli.database(), "nightly", "--", "sh", "-c", "touch $T/held; sleep 600");
        cli.awaitFile("held");

        Tmux tmux = shell(Cli.command("top", "--store", cli.database()));

        tmux.awaitText("1 held");
        assertThat(tmux.lines().get(3)).startsWith("nightly ");
        holder.signal("TERM");
        tmux.awaitText("0 held");
        // QUIT reaches a JVM by the pipe of the launcher only.
        tmux.press("C-\\");
        assertRestored(tmux, 131);
    }

    private Tmux top(String what) {
        Tmux tmux = shell(plenty(what));
        tmux.awaitText("q quit");
        return tmux;
    }

    /** Starts a shell that notes the state of its terminal before and after the command. */
    private Tmux shell(List<String> command) {
        Tmux tmux = new Tmux(directory, 80, 24);
        open.add(tmux);
        String words =
                String.join(" ", command.stream().map(word -> "'" + word + "'").toList());
        Path script = directory.resolve("script");
        try {
            Files.writeString(
                    script,
                    "stty -g >$T/before; sh -c 'echo $$ >$T/pid; exec \"$@\"' sh " + words
                            + "; code=$?; echo $code >$T/code; echo code $code; stty -g >$T/after\n");
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
        tmux.run(". " + script);
        return tmux;
    }

    private static List<String> plenty(String what) {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                "target/lock-cli.jar:target/test-classes:target/lib/*",
                Main.class.getName(),
                "top",
                "--interval",
                "100ms",
                "--store",
                PlentyStore.DSN + what);
    }
}
