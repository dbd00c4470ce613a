package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Nobody reads the answer: stdout is a pipe that is full. */
class LockStuckOutputIT extends CliFixture {

    /** Fills the pipe, starts what follows as {@code $T/pid}, and notes its exit code. */
    private static final String INTO_A_FULL_PIPE = "{ head -c 65536 /dev/zero;"
            + " sh -c 'echo $$ >$T/pid.new; mv $T/pid.new $T/pid; exec \"$@\"' sh \"$@\"; echo $? >$T/code; }"
            + " | " + Cli.until("code");

    @ParameterizedTest
    @ValueSource(strings = {"--hold", "--until-eof"})
    void givenHeld_whenTerm_thenReleased(String holding) {
        var stuck = startIntoAFullPipe("acquire", "--verbose", holding, "x");
        stuck.awaitErr("acquired");
        assertThat(cli.run("run", "-n", "x", "--", "true").exitCode()).isEqualTo(75);

        Cli.signal("TERM", pid());

        assertThat(stuck.exitCode()).isZero();
        assertThat(cli.read("code")).isEqualTo("0\n");
        assertThat(cli.run("run", "-n", "x", "--", "true").exitCode()).isZero();
    }

    @Test
    void givenHeld_whenLost_thenSaidAndEnded() {
        var stuck = startIntoAFullPipe(
                "acquire", "--verbose", "--hold", "--ttl", Cli.ttl(5), "--store", cli.database(), "x");
        stuck.awaitErr("acquired");

        Cli.signal("STOP", pid());
        await().atMost(Cli.PATIENCE)
                .until(() -> cli.run("status", "--store", cli.database(), "x").exitCode() == 0);
        Cli.signal("CONT", pid());

        assertThat(stuck.exitCode()).isZero();
        assertThat(cli.read("code")).isEqualTo("76\n");
        assertThat(stuck.err()).contains("lost the lock \"x\"");
    }

    @Test
    void givenAKeyToPrint_whenTerm_thenNothingIsHeld() {
        var stuck = startIntoAFullPipe("acquire", "--verbose", "--store", cli.database(), "x");
        stuck.awaitErr("acquired");

        Cli.signal("TERM", pid());

        assertThat(stuck.exitCode()).isZero();
        assertThat(cli.read("code")).isEqualTo("143\n");
        assertThat(cli.run("status", "--store", cli.database(), "x").exitCode()).isZero();
    }

    private long pid() {
        return Long.parseLong(cli.read("pid").strip());
    }

    private Cli.Running startIntoAFullPipe(String... arguments) {
        List<String> command = new ArrayList<>(List.of("sh", "-c", INTO_A_FULL_PIPE, "sh"));
        command.addAll(Cli.command(arguments));
        return cli.start(command, null);
    }
}
