package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

class LockHandoverIT extends CliFixture {

    @Test
    void givenAcquired_whenAnotherProcessHasTheKey_thenItRefreshesAndReleases() {
        String key = inDatabase("", "acquire", "x").out().strip();
        assertThat(key).matches("[A-Za-z0-9._~-]+");
        assertThat(inDatabase("", "run", "-n", "x", "--", "true").exitCode()).isEqualTo(75);

        var refreshed = inDatabase(key + "\n", "refresh", "--json", "--ttl", "1h", "-");
        assertThat(refreshed.exitCode()).as(refreshed.err()).isZero();
        assertThat(refreshed.out())
                .matches("\\{\"resource\":\"x\",\"refreshed\":true,\"mode\":\"exclusive\",\"fencingToken\":[0-9]+,"
                        + "\"remainingMs\":35[0-9]{5}}\n");
        assertThat(inDatabase("", "release", "--json", key).out())
                .isEqualTo("{\"resource\":\"x\",\"released\":true}\n");

        var again = inDatabase("", "release", "--json", key);
        assertThat(again.exitCode()).isEqualTo(76);
        assertThat(again.out()).isEqualTo("{\"resource\":\"x\",\"released\":false}\n");
        var late = inDatabase("", "refresh", key);
        assertThat(late.exitCode()).isEqualTo(76);
        assertThat(late.err()).startsWith("lock: \"x\": ").hasLineCount(1);
    }

    @Test
    void givenAcquired_whenJson_thenKeyAndConflictAsJson() {
        var acquired = inDatabase("", "acquire", "--json", "--verbose", "a \"b\"\n");
        assertThat(acquired.out())
                .matches("\\{\"resource\":\"a \\\\\"b\\\\\"\\\\n\",\"acquired\":true,\"mode\":\"exclusive\","
                        + "\"fencingToken\":[0-9]+,\"remainingMs\":[0-9]+,\"key\":\"[^\"]+\"}\n");
        String key = acquired.out().replaceAll("(?s).*\"key\":\"([^\"]+)\".*", "$1");
        assertThat(acquired.err()).doesNotContain(key);

        var conflict = inDatabase("", "acquire", "--json", "-n", "a \"b\"\n");
        assertThat(conflict.exitCode()).isEqualTo(75);
        assertThat(conflict.out()).isEqualTo("{\"resource\":\"a \\\"b\\\"\\n\",\"acquired\":false}\n");
        assertThat(inDatabase("", "status", "a \"b\"\n").out()).doesNotContain(key);
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void givenKeyCannotBeWritten_whenAcquire_thenNothingIsHeld() {
        var acquire = cli.start("", Path.of("/dev/full"), "acquire", "--store", cli.database(), "x");

        assertThat(acquire.exitCode()).isEqualTo(74);
        assertThat(inDatabase("", "status", "x").exitCode()).isZero();
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void givenAnswerCannotBeWritten_whenRefresh_thenItIsHeldOn() {
        String key = inDatabase("", "acquire", "x").out().strip();
        var refresh = cli.start("", Path.of("/dev/full"), "refresh", "--store", cli.database(), "--json", key);

        assertThat(refresh.exitCode()).isEqualTo(74);
        assertThat(inDatabase("", "release", key).exitCode()).isZero();
    }

    @Test
    void givenFlock_whenAcquire_thenSaysWhyItsKeysCannotTravelAndHoldsNothing() {
        var acquire = cli.run("acquire", "x");

        assertThat(acquire.exitCode()).isEqualTo(64);
        assertThat(acquire.err())
                .startsWith("lock: \"x\": its key cannot be serialized: ")
                .contains("--hold")
                .hasLineCount(1);
        assertThat(cli.run("run", "-n", "x", "--", "true").exitCode()).isZero();
        var key = inDatabase("", "acquire", "x").out().strip();
        var refresh = cli.run("refresh", key);
        assertThat(refresh.exitCode()).isEqualTo(64);
        assertThat(refresh.err()).doesNotContain(key);
    }

    @Test
    void givenFlock_whenHold_thenHeldUntilASignal() {
        var holding = cli.start("acquire", "--hold", "x");
        await().atMost(Cli.PATIENCE).until(() -> holding.out().equals("held x\n"));
        assertThat(cli.run("run", "-n", "x", "--", "true").exitCode()).isEqualTo(75);

        holding.signal("TERM");

        assertThat(holding.exitCode()).isZero();
        assertThat(cli.run("run", "-n", "x", "--", "true").exitCode()).isZero();
    }

    @Test
    void givenHoldUntilEof_whenInputEnds_thenReleased() {
        assertThat(cli.run("acquire", "--until-eof", "--json", "x").exitCode()).isZero();
    }

    @Test
    void givenStatus_whenFreeSharedOrHeld_thenSaysSo() {
        var free = cli.run("status", "x");
        assertThat(free.exitCode()).isZero();
        assertThat(free.out()).isEqualTo("x: free\n");

        var reader = cli.start("run", "-s", "x", "-c", ": >$T/reading; " + Cli.until("never"));
        cli.awaitFile("reading");
        assertThat(cli.run("status", "x").exitCode()).isEqualTo(75);
        assertThat(cli.run("status", "-s", "x").exitCode()).isZero();
        reader.signal("KILL");
        int unused = reader.exitCode();

        var writer = cli.start("run", "x", "-c", ": >$T/writing; " + Cli.until("never"));
        cli.awaitFile("writing");
        var held = cli.run("status", "x");
        assertThat(held.exitCode()).isEqualTo(75);
        assertThat(held.out())
                .contains("x: held exclusively by pid " + writer.process().pid());
        assertThat(cli.run("status", "--json", "x").out())
                .matches("\\{\"resource\":\"x\",\"state\":\"exclusive\",\"holders\":\\[\\{\"mode\":\"exclusive\","
                        + "\"description\":\"[^\"]*\",\"fencingToken\":(null|[0-9]+),\"remainingMs\":null,"
                        + "\"heldMs\":(null|[0-9]+)}]}\n");
    }

    /** Runs {@code lock} with the database. */
    private Cli.Running inDatabase(String input, String verb, String... arguments) {
        List<String> all = new ArrayList<>(List.of(verb, "--store", cli.database()));
        all.addAll(List.of(arguments));
        Cli.Running running = cli.start(Cli.command(all.toArray(String[]::new)), input);
        int unused = running.exitCode();
        return running;
    }
}
