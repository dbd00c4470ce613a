package dev.latchkey.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code lock lead}: several stand, one runs its command. */
class LockLeadIT extends CliFixture {

    /** Notes that it leads, with the number of the term, until it is told to end, or gets a TERM. */
    private static String leading(String who) {
        return "trap 'echo " + who + " ends >>$T/said; exit 5' TERM; echo " + who + " leads $LOCK_TOKEN >>$T/said;"
                + " until [ -e $T/end-" + who + " ]; do sleep 0.05; done; rm $T/end-" + who + "; echo " + who
                + " returns >>$T/said";
    }

    private Cli.Running stand(String who, String... options) {
        List<String> all = new ArrayList<>(List.of("lead"));
        all.addAll(List.of(options));
        all.addAll(List.of("dispatcher", "-c", leading(who)));
        return cli.start(all.toArray(String[]::new));
    }

    private void awaitSaid(String part) {
        await().atMost(Cli.PATIENCE).until(() -> cli.read("said").contains(part));
    }

    /** Ends the command of one until another leads: if that one is late, the first leads again before. */
    private void endUntilAnotherLeads(String who, String other) {
        await().atMost(Cli.PATIENCE).until(() -> {
            if (!Files.exists(cli.file("end-" + who))) {
                cli.touch("end-" + who);
            }
            String said = cli.read("said");
            return said.indexOf(other + " leads", said.indexOf(who + " leads")) >= 0;
        });
    }

    @Test
    void givenALeader_whenItGetsTerm_thenItsCommandEndsAndThenAnotherLeads() {
        var ann = stand("ann");
        awaitSaid("ann leads");
        var bob = stand("bob", "--verbose");
        bob.awaitErr("standing for");

        ann.signal("TERM");

        assertThat(ann.exitCode()).isEqualTo(5);
        awaitSaid("bob leads");
        assertThat(cli.read("said")).containsSubsequence("ann leads", "ann ends", "bob leads");
        bob.signal("TERM");
        assertThat(bob.exitCode()).isEqualTo(5);
    }

    @Test
    void givenALeader_whenItsCommandEnds_thenAnotherLeadsAndItLeadsAgainLater() {
        var ann = stand("ann", "--verbose");
        awaitSaid("ann leads");
        var bob = stand("bob", "--verbose");
        bob.awaitErr("standing for");

        endUntilAnotherLeads("ann", "bob");
        ann.awaitErr("ended with 0: standing again");
        endUntilAnotherLeads("bob", "ann");

        List<Long> numbers = cli.read("said")
                .lines()
                .filter(line -> line.contains(" leads "))
                .map(line -> Long.parseLong(line.substring(line.lastIndexOf(' ') + 1)))
                .toList();
        assertThat(numbers).isSorted().doesNotHaveDuplicates().hasSizeGreaterThanOrEqualTo(3);
    }

    @ParameterizedTest
    @CsvSource({"HUP, 129", "INT, 130", "TERM, 143"})
    void givenItFollows_whenSignal_thenItEndsAtOnce(String signal, int exitCode) {
        stand("ann");
        awaitSaid("ann leads");
        var bob = stand("bob", "--verbose");
        bob.awaitErr("standing for");

        bob.signal(signal);

        assertThat(bob.exitCode()).isEqualTo(exitCode);
        assertThat(cli.read("said")).doesNotContain("bob");
    }

    @Test
    void givenALeader_whenItIsKilledAndItsLeaseEnds_thenAnotherLeads() {
        String[] options = {"--store", cli.database(), "--ttl", Cli.ttl(10), "--kill-after", "1s"};
        var ann = stand("ann", options);
        awaitSaid("ann leads");
        stand("bob", options);

        ann.process().descendants().forEach(ProcessHandle::destroyForcibly);
        ann.process().destroyForcibly();

        awaitSaid("bob leads");
    }

    /** The command ends before the lease, although it asks for time: nobody else holds the lock meanwhile. */
    @Test
    void givenALeaderThatCannotRenew_whenItsLeaseIsAboutToEnd_thenItsCommandHasEndedBefore() throws Exception {
        var ann = cli.start(
                "lead",
                "--store",
                cli.database(),
                "--ttl",
                Cli.ttl(12),
                "--kill-after",
                Cli.ttl(2),
                "dispatcher",
                "-c",
                "trap '' TERM; echo $$ >$T/starting; mv $T/starting $T/pid;"
                        + " while :; do echo >$T/beat; sleep 0.05; done");
        cli.awaitFile("pid");
        ProcessHandle child =
                ProcessHandle.of(Long.parseLong(cli.read("pid").strip())).orElseThrow();
        try (Connection connection = DriverManager.getConnection(cli.database());
                Statement statement = connection.createStatement()) {
            statement.execute("PRAGMA busy_timeout = 60000");
            // Nobody else can write from now on.
            statement.execute("BEGIN EXCLUSIVE");
            long end = leaseEndMillis(statement);

            await().atMost(Cli.PATIENCE).until(() -> !child.isAlive());

            // What it did last: its end may be seen late here.
            assertThat(Files.getLastModifiedTime(cli.file("beat")).toMillis()).isLessThan(end);
            statement.execute("COMMIT");
        }
        // What is said is written by a thread of its own.
        ann.awaitErr("--kill-after");
        assertThat(ann.err()).contains("could not be renewed, and is lost in ");
    }

    /** By the clock of this machine, which is that of SQLite. */
    private static long leaseEndMillis(Statement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery("SELECT expires_at FROM latchkey_lock")) {
            assertThat(row.next()).isTrue();
            return row.getLong(1) / 1_000;
        }
    }

    @Test
    void givenTheLockIsTakenAway_whenItIsNoticed_thenTheCommandIsKilledAndItStandsAgain() throws SQLException {
        // A renewal may be late by seconds, and the lease is not about to end.
        var ann = stand("ann", "--store", cli.database(), "--ttl", Cli.ttl(9), "--kill-after", "1s");
        awaitSaid("ann leads");

        try (Connection connection = DriverManager.getConnection(cli.database());
                Statement statement = connection.createStatement()) {
            statement.execute("PRAGMA busy_timeout = 60000");
            assertThat(statement.executeUpdate("DELETE FROM latchkey_lock")).isOne();
        }

        await().atMost(Cli.PATIENCE).until(() -> cli.read("said").lines().count() == 2);
        ann.awaitErr("killing the command");
        assertThat(ann.err()).contains("lost the lock \"dispatcher\"");
        assertThat(cli.read("said")).doesNotContain("ann ends");
    }

    /** As the node of ZooKeeper, which an operator deletes to force a leader out. Curator #692. */
    @Test
    void givenAStoreWithoutLeases_whenTheHoldIsRemovedThere_thenTheCommandIsKilledAndItStandsAgain() throws Exception {
        var ann = stand("ann", "--ttl", Cli.ttl(3), "--kill-after", "500ms");
        awaitSaid("ann leads");

        try (Stream<Path> files = Files.list(cli.file("locks"))) {
            Files.delete(files.filter(file -> file.toString().endsWith(".lock"))
                    .findFirst()
                    .orElseThrow());
        }

        await().atMost(Cli.PATIENCE).until(() -> cli.read("said").lines().count() == 2);
        ann.awaitErr("killing the command");
        assertThat(ann.err()).contains("lost the lock \"dispatcher\"");
        assertThat(cli.read("said")).doesNotContain("ann ends");
    }

    @Test
    void givenItsCommandIsKilled_whenNobodyElseStands_thenItLeadsAgain() {
        var ann = cli.start(
                "lead",
                "dispatcher",
                "-c",
                "echo ann leads >>$T/said; [ -e $T/again ] && exec sleep 300; touch $T/again; kill -s KILL $$");

        await().atMost(Cli.PATIENCE).until(() -> cli.read("said").lines().count() == 2);

        ann.awaitErr("ended with 137: standing again");
    }

    /** As docs/leader-election.md advises. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void givenACommandThatDiesWithItsParent_whenLockIsKilled_thenItHasEnded() {
        var ann = cli.start("lead", "dispatcher", "--", "setpriv", "--pdeathsig", "KILL", "sh", "-c", leading("ann"));
        awaitSaid("ann leads");
        ProcessHandle command = ann.process()
                .descendants()
                .filter(process -> process.info().arguments().stream()
                        .flatMap(Arrays::stream)
                        .anyMatch(argument -> argument.contains("ann leads")))
                .findFirst()
                .orElseThrow();

        ann.process().destroyForcibly();

        await().atMost(Cli.PATIENCE).until(() -> !command.isAlive());
    }

    /** A program may reload its configuration at HUP, and return days later. */
    @Test
    void givenACommandThatGoesOnAfterHup_whenItReturnsLater_thenItStandsAgain() {
        var ann = cli.start(
                "lead",
                "dispatcher",
                "-c",
                "trap 'echo reloaded >>$T/said' HUP; echo ann leads >>$T/said;"
                        + " until [ -e $T/end ]; do sleep 0.05; done; rm $T/end");
        awaitSaid("ann leads");
        ann.signal("HUP");
        awaitSaid("reloaded");

        cli.touch("end");

        await().atMost(Cli.PATIENCE).until(() -> cli.read("said").lines().count() == 3);
        ann.awaitErr("ended with 0: standing again");
        ann.signal("TERM");
        assertThat(ann.exitCode()).isEqualTo(143);
    }

    /** Nothing was said of the store if the command had failed before. */
    @Test
    void givenTheCommandHasFailed_whenTheStoreIsAwayToo_thenThatIsSaid() throws Exception {
        // A link can be replaced in one step: in between, the directory would be created again.
        Path locks = Files.createSymbolicLink(cli.file("locks"), Files.createDirectory(cli.file("there")));
        var ann = cli.start(
                "lead",
                "--store",
                "flock://" + locks + "/below",
                "dispatcher",
                "-c",
                "echo ann leads >>$T/said; [ -e $T/healthy ] || exit 3; exec sleep 300");
        ann.awaitErr("ended with 3: standing again");

        // While it pauses.
        cli.touch("file");
        Files.move(cli.file("file"), locks, StandardCopyOption.ATOMIC_MOVE);

        ann.awaitErr("trying again");
        cli.touch("healthy");
        int before = cli.read("said").length();
        Files.delete(locks);
        await().atMost(Cli.PATIENCE).until(() -> cli.read("said").length() > before);
    }

    @Test
    void givenAStoreThatIsAway_whenItComes_thenItLeads() {
        cli.touch("locks");
        var ann = stand("ann", "--store", "flock://" + cli.file("locks") + "/below");
        ann.awaitErr("trying again");

        assertThat(cli.file("locks").toFile().delete()).isTrue();

        awaitSaid("ann leads");
    }

    @Test
    void givenACommandThatDoesNotExist_whenElected_then127() {
        var ann = cli.run("lead", "dispatcher", "--", cli.file("nowhere").toString());

        assertThat(ann.exitCode()).isEqualTo(127);
        assertThat(ann.err()).contains("command not found");
    }
}
