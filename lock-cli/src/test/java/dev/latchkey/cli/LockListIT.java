package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LockListIT extends CliFixture {

    @Test
    void givenMoreThanAPage_whenListed_thenAllOnceWithOneHeading() {
        var ls = plenty("2500", "ls");

        assertThat(ls.exitCode()).as(ls.err()).isZero();
        assertThat(ls.out().lines()).hasSize(2501);
        assertThat(ls.out().lines().findFirst().orElseThrow())
                .matches("NAME +MODE +HELD +LEASE +WAITING +TOKEN +OWNER");
        assertThat(ls.out().lines().filter(line -> line.startsWith("job-002499 ")))
                .singleElement()
                .asString()
                .contains("exclusive", "2m 5s", "25 s", "3499");
    }

    @Test
    void givenPrefix_whenListedAsJson_thenOneObjectOnEachLine() {
        var ls = plenty("300", "ls", "--json", "job-00010");

        assertThat(ls.out().lines()).hasSize(10);
        assertThat(ls.out().lines().findFirst().orElseThrow())
                .startsWith(
                        "{\"resource\":\"job-000100\",\"holders\":[{\"mode\":\"exclusive\",\"description\":\"orders\\u001b[2J"
                                + " <b>host</b>/4711 worker-1\",\"fencingToken\":1100,\"remainingMs\":25000,\"heldMs\":125000}],"
                                + "\"waiters\":[{\"mode\":\"exclusive\",\"description\":\"orders")
                .endsWith(",\"waitedMs\":60000}]}");
    }

    @Test
    void givenNothingHeld_whenListed_thenSaidOnStderr() {
        var ls = plenty("0", "ls", "no\u001bsuch");

        assertThat(ls.exitCode()).isZero();
        assertThat(ls.out()).isEmpty();
        assertThat(ls.err()).isEqualTo("lock: nothing is held whose name begins with \"no\\u001bsuch\"\n");
    }

    @Test
    void givenNamesThatATerminalObeys_whenListed_thenEscaped() {
        String all = plenty("odd", "ls").out()
                + plenty("odd", "who", PlentyStore.ODD_NAMES.get(0)).out();

        assertThat(all).contains("\\u001b]0;title\\u0007", "left\\u202etfel", "a\\u000ab\\u000dc", "c1\\u009b31m");
        assertThat(all.codePoints().filter(c -> c != '\n')).noneMatch(Character::isISOControl);
        assertThat(all.codePoints()).doesNotContain(0x202e);
    }

    @Test
    void givenHeldAndWaitedFor_whenAskedWho_thenHolderAndLine() {
        var who = plenty("300", "who", "job-000100");

        assertThat(who.exitCode()).isZero();
        assertThat(who.out().lines().toList())
                .satisfiesExactly(
                        first -> assertThat(first)
                                .startsWith("job-000100: held exclusively by orders")
                                .endsWith(", for 2m 5s, fencing token 1100, lease ends in 25 s"),
                        second -> assertThat(second)
                                .startsWith("  waiting 1. orders")
                                .endsWith(", for 61 s"),
                        third -> assertThat(third)
                                .startsWith("  waiting 2. orders")
                                .endsWith(", for 60 s"));
        assertThat(plenty("300", "who", "--json", "other").out())
                .isEqualTo("{\"resource\":\"other\",\"state\":\"free\",\"holders\":[],\"waiters\":[]}\n");
    }

    @Test
    void givenNoTerminal_whenBrokenWithoutYes_then64() {
        var broken = plenty("1", "break", "--token", "1000", "job-000000");

        assertThat(broken.exitCode()).isEqualTo(64);
        assertThat(broken.err()).startsWith("lock: ").contains("--yes").hasLineCount(1);
    }

    @Test
    void givenYes_whenBroken_thenSaidThatTheHolderMayStillWork() {
        var broken = plenty("1", "break", "--yes", "--json", "--token", "1000", "job-000000");

        assertThat(broken.exitCode()).as(broken.err()).isZero();
        assertThat(broken.out()).isEqualTo("{\"resource\":\"job-000000\",\"fencingToken\":1000,\"ended\":true}\n");
        assertThat(broken.err()).contains("may still work").hasLineCount(1);
    }

    @Test
    void givenAnotherToken_whenBroken_then76() {
        var broken = plenty("1", "break", "--yes", "--json", "--token", "999", "job-000000");

        assertThat(broken.exitCode()).isEqualTo(76);
        assertThat(broken.out()).isEqualTo("{\"resource\":\"job-000000\",\"fencingToken\":999,\"ended\":false}\n");
    }

    @Test
    void givenTerminal_whenBroken_thenAsked() {
        var no = inTerminal("break", "--token", "1000", "job-000000");
        awaitOut(no, "[y/N]");
        no.type('\n');
        assertThat(no.exitCode()).isEqualTo(75);
        assertThat(no.out()).contains("held exclusively by orders").contains("nothing was ended");

        var yes = inTerminal("break", "--token", "1000", "job-000000");
        awaitOut(yes, "[y/N]");
        yes.type('y');
        yes.type('\n');
        assertThat(yes.exitCode()).as(yes.out()).isZero();
    }

    @Test
    void givenStoreThatCannotList_whenListed_then64AndOneLine() {
        var ls = cli.run("ls", "--store", "memcached://127.0.0.1:1");

        assertThat(ls.exitCode()).isEqualTo(64);
        assertThat(ls.err()).startsWith("lock: this store cannot list").hasLineCount(1);
    }

    /** Neither in an answer nor in a stack trace. */
    @ParameterizedTest
    @ValueSource(strings = {"ls", "who x", "break --yes --token 1 x", "status x"})
    void givenPasswordInTheDsn_whenTheStoreIsAway_thenItIsNotShown(String arguments) {
        List<String> words = new ArrayList<>(List.of(arguments.split(" ")));
        words.addAll(1, List.of("--verbose", "--store", "redis://me:hidden-word@127.0.0.1:1"));

        var run = cli.run(words.toArray(String[]::new));

        assertThat(run.exitCode()).isIn(64, 69);
        assertThat(run.err()).startsWith("lock: ");
        assertThat(run.out() + run.err()).doesNotContain("hidden-word");
    }

    private static void awaitOut(Cli.Running running, String part) {
        await().atMost(Cli.PATIENCE).until(() -> running.out().contains(part));
    }

    private Cli.Running plenty(String what, String verb, String... arguments) {
        var running = cli.start(command(what, verb, arguments), "");
        int unused = running.exitCode();
        return running;
    }

    private Cli.Running inTerminal(String verb, String... arguments) {
        return cli.startInTerminal(command("1", verb, arguments));
    }

    private static List<String> command(String what, String verb, String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                "target/lock-cli.jar:target/test-classes",
                Main.class.getName(),
                verb,
                "--store",
                PlentyStore.DSN + what));
        command.addAll(List.of(arguments));
        return command;
    }
}
