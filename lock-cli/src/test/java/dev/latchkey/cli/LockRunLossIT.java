package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LockRunLossIT extends CliFixture {

    /** Over soon, at the worst before the command runs. */
    private static final String SHORT = Cli.ttl(3);

    /** Lets a command begin on a busy machine, and say how it takes TERM, before it is over. */
    private static final String LONG = Cli.ttl(5);

    @Test
    void givenLeaseEnds_whenChildEndsWithZeroOnTerm_thenLost() {
        var run = startLosing(LONG, "x", "-c", "trap 'echo TERM >>$T/got; exit 0' TERM; while :; do sleep 0.05; done");

        assertThat(run.exitCode()).isEqualTo(76);
        assertThat(run.err()).contains("lock: lost the lock \"x\" (EXPIRED)");
        assertThat(cli.read("got")).isEqualTo("TERM\n");
    }

    @Test
    void givenLeaseEnds_whenOnLostKill_thenKilled() {
        var run = startLosing(SHORT, "--on-lost=kill", "--kill-after=1h", "x", "-c", "trap '' TERM; sleep 60");

        assertThat(run.exitCode()).isEqualTo(76);
    }

    @Test
    void givenLeaseEnds_whenChildIgnoresTerm_thenKilledAfterTheGrace() {
        var run = startLosing(LONG, "--kill-after=200ms", "x", "-c", "trap '' TERM; sleep 60");

        assertThat(run.exitCode()).isEqualTo(76);
        assertThat(run.err()).contains("--kill-after");
    }

    /** Whoever reads what lock reports may be stuck. */
    @ParameterizedTest
    @ValueSource(strings = {"--on-lost=kill", "--kill-after=200ms"})
    @EnabledOnOs(OS.LINUX)
    void givenStderrThatNobodyReads_whenLeaseEnds_thenKilledAllTheSame(String option) {
        List<String> command = new ArrayList<>(List.of(
                "sh",
                "-c",
                "mkfifo $T/stuck; exec 2<>$T/stuck; dd if=/dev/zero of=$T/stuck oflag=nonblock bs=4096 2>/dev/null;"
                        + " exec \"$@\"",
                "sh"));
        command.addAll(Cli.command(losing(SHORT, option, "x", "-c", "trap '' TERM; sleep 600")));
        var run = cli.start(command, "");

        assertThat(run.exitCode()).isEqualTo(76);
    }

    @Test
    void givenLeaseEnds_whenOnLostWarn_thenChildGoesOnAndStillLost() {
        var run = startLosing(LONG, "--on-lost=warn", "x", "-c", Cli.until("go") + "; : >$T/done");
        run.awaitErr("lost the lock");
        cli.touch("go");

        assertThat(run.exitCode()).isEqualTo(76);
        assertThat(cli.file("done")).exists();
    }

    @Test
    void givenShortLease_whenAutoRefresh_thenHeldAsLongAsTheChildRuns() {
        var run = cli.run("run", "--store", "in-memory", "--ttl", Cli.ttl(9), "x", "--", "sleep", Cli.seconds(11));

        assertThat(run.exitCode()).isZero();
        assertThat(run.err()).isEmpty();
    }

    @Test
    void givenMaxHold_whenOver_thenTerminatedAndLost() {
        var run = cli.run("run", "--max-hold", "300ms", "x", "-c", "trap 'exit 0' TERM; while :; do sleep 0.05; done");

        assertThat(run.exitCode()).isEqualTo(76);
        assertThat(run.err()).startsWith("lock: the lock \"x\" was held for 0.3 s, the most --max-hold allows");
    }

    @Test
    void givenTakenAway_whenChildEnds_thenLost() throws SQLException {
        var run = cli.start(
                "run", "--store", cli.database(), "x", "-c", ": >$T/ready; until [ -e $T/end ]; do sleep 0.05; done");
        cli.awaitFile("ready");
        try (Connection connection = DriverManager.getConnection(cli.database());
                Statement statement = connection.createStatement()) {
            assertThat(statement.executeUpdate("DELETE FROM latchkey_lock")).isOne();
        }
        cli.touch("end");

        assertThat(run.exitCode()).isEqualTo(76);
        assertThat(run.err()).contains("no longer held");
    }

    private Cli.Running startLosing(String ttl, String... arguments) {
        return cli.start(losing(ttl, arguments));
    }

    private static String[] losing(String ttl, String... arguments) {
        List<String> all = new ArrayList<>(List.of("run", "--store", "in-memory", "--ttl", ttl, "--no-auto-refresh"));
        all.addAll(List.of(arguments));
        return all.toArray(String[]::new);
    }
}
