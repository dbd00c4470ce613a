package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LockRunLossIT {

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

    @Test
    void givenLeaseEnds_whenChildEndsWithZeroOnTerm_thenLost() {
        var run = losing("x", "-c", "trap 'echo TERM >>$T/got; exit 0' TERM; while :; do sleep 0.05; done");

        assertThat(run.exitCode()).isEqualTo(76);
        assertThat(run.err()).contains("lock: lost the lock \"x\" (EXPIRED)");
        assertThat(cli.read("got")).isEqualTo("TERM\n");
    }

    @Test
    void givenLeaseEnds_whenOnLostKill_thenKilled() {
        var run = losing("--on-lost=kill", "--kill-after=1h", "x", "-c", "trap '' TERM; sleep 60");

        assertThat(run.exitCode()).isEqualTo(76);
    }

    @Test
    void givenLeaseEnds_whenChildIgnoresTerm_thenKilledAfterTheGrace() {
        var run = losing("--kill-after=200ms", "x", "-c", "trap '' TERM; sleep 60");

        assertThat(run.exitCode()).isEqualTo(76);
        assertThat(run.err()).contains("--kill-after");
    }

    @Test
    void givenLeaseEnds_whenOnLostWarn_thenChildGoesOnAndStillLost() {
        var run = losing("--on-lost=warn", "x", "-c", "while [ ! -e $T/go ]; do sleep 0.05; done; : >$T/done");
        run.awaitErr("lost the lock");
        cli.touch("go");

        assertThat(run.exitCode()).isEqualTo(76);
        assertThat(cli.file("done")).exists();
    }

    @Test
    void givenShortLease_whenAutoRefresh_thenHeldAsLongAsTheChildRuns() {
        var run = cli.run("run", "--store", "in-memory", "--ttl", "1s", "x", "--", "sleep", "3");

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

    private Cli.Running losing(String... arguments) {
        List<String> all = new ArrayList<>(List.of("run", "--store", "in-memory", "--ttl", "1s", "--no-auto-refresh"));
        all.addAll(List.of(arguments));
        return cli.start(all.toArray(String[]::new));
    }
}
