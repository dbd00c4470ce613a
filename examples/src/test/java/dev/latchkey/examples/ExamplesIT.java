package dev.latchkey.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.testkit.TimeLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the class comments of the examples say is to be seen, with real processes, servers and signals. */
class ExamplesIT {

    private final List<Program> programs = new ArrayList<>();
    private final List<RedisServer> servers = new ArrayList<>();

    @TempDir
    private Path directory = Path.of("");

    @AfterEach
    void stop() {
        programs.forEach(Program::close);
        servers.forEach(RedisServer::close);
    }

    @Test
    void givenALeader_whenItIsKilledFrozenOrEnded_thenAnotherLeadsWithAGreaterTerm() throws Exception {
        String dsn = redisDsn();
        Program ann = start(Dispatcher.class, dsn, "ann");
        assertThat(ann.line()).isEqualTo("ann stands");
        long first = number(ann.line(), "ann leads, term ");
        Program bob = start(Dispatcher.class, dsn, "bob");
        assertThat(bob.line()).isEqualTo("bob stands");

        ann.kill();
        long second = number(bob.line(), "bob leads, term ");
        assertThat(second).isGreaterThan(first);

        Program cleo = start(Dispatcher.class, dsn, "cleo");
        assertThat(cleo.line()).isEqualTo("cleo stands");
        bob.freeze();
        long third = number(cleo.line(), "cleo leads, term ");
        assertThat(third).isGreaterThan(second);
        bob.thaw();
        assertThat(bob.line()).isEqualTo("bob leads no more");

        cleo.terminate();
        assertThat(cleo.line()).isEqualTo("cleo leads no more");
        long last = nextTerm(bob, "bob");
        while (last > second && last < third) {
            // On a busy machine, it may have lost its term and won another before it was frozen.
            last = nextTerm(bob, "bob");
        }
        assertThat(last).isGreaterThan(third);
    }

    private static long nextTerm(Program candidate, String name) throws IOException {
        String line = candidate.line();
        while (line.equals(name + " leads no more")) {
            line = candidate.line();
        }
        return number(line, name + " leads, term ");
    }

    @Test
    void givenTwoPermits_whenThreeExport_thenTheThirdWaitsForARelease() throws Exception {
        String dsn = redisDsn();
        Program a = start(ExportLimit.class, dsn, "a");
        assertThat(a.line()).isEqualTo("a exports with 1 permit");
        Program b = start(ExportLimit.class, dsn, "b");
        assertThat(b.line()).isEqualTo("b exports with 1 permit");
        Program c = start(ExportLimit.class, dsn, "c");
        assertThat(c.line()).isEqualTo("c waits, 0 of 2 are free");

        a.tell("done");

        assertThat(c.line()).isEqualTo("c exports with 1 permit");
        Program d = start(ExportLimit.class, dsn, "d");
        assertThat(d.line()).isEqualTo("d waits, 0 of 2 are free");
        b.kill();
        assertThat(d.line()).isEqualTo("d exports with 1 permit");
    }

    @Test
    void givenThreeHosts_whenCronStartsTheJobOnAll_thenOneRunsItAndALateOneDoesNot() throws Exception {
        String dsn = redisDsn();
        List<Program> hosts = List.of(
                start(CronOnce.class, dsn, "a"), start(CronOnce.class, dsn, "b"), start(CronOnce.class, dsn, "c"));
        List<String> said = new ArrayList<>();
        for (Program host : hosts) {
            said.add(host.line().substring(2));
            assertThat(host.end()).isZero();
        }
        assertThat(said).containsExactlyInAnyOrder("runs the job", "leaves it to another", "leaves it to another");

        assertThat(start(CronOnce.class, dsn, "late").line()).isEqualTo("late leaves it to another");
    }

    @Test
    void givenAWriterIsStoppedPastItsLease_whenItWakesAndWrites_thenTheDataRefusesIt() throws Exception {
        String dsn = redisDsn();
        try (PostgresServer database = PostgresServer.start();
                Connection connection = DriverManager.getConnection(database.jdbcUrl());
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE account (owner varchar(20))");
            statement.execute("INSERT INTO account VALUES ('nobody')");
            Program ann = start(FencedWrite.class, dsn, database.jdbcUrl(), "ann");
            long first = number(ann.line(), "ann holds the lock, token ");
            ann.freeze();

            Program bob = start(FencedWrite.class, dsn, database.jdbcUrl(), "bob");
            assertThat(number(bob.line(), "bob holds the lock, token ")).isGreaterThan(first);
            assertThat(bob.answers("write")).isEqualTo("bob has written");

            ann.thaw();
            assertThat(ann.answers("write")).isEqualTo("ann was refused: TAKEN_OVER");
            assertThat(ann.end()).isZero();
            try (ResultSet row = statement.executeQuery("SELECT owner FROM account")) {
                assertThat(row.next()).isTrue();
                assertThat(row.getString(1)).isEqualTo("bob");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"redis", "h2"})
    void givenAJobIsBegun_whenAnotherProcessFinishesIt_thenItWasOneHoldAllTheTime(String store) throws Exception {
        String dsn = store.equals("redis")
                ? redisDsn()
                : "jdbc:h2:" + directory.resolve("jobs").toAbsolutePath() + ";AUTO_SERVER=TRUE";
        Program begin = start(KeyTransfer.class, dsn, "begin");
        long token = number(begin.line(), "begun with token ");
        String key = begin.line();
        assertThat(begin.end()).isZero();
        assertThat(isFree(dsn)).isFalse();

        Program finish = start(KeyTransfer.class, dsn, "finish");
        assertThat(number(finish.answers(key), "finished with token ")).isEqualTo(token);
        assertThat(finish.end()).isZero();
        assertThat(isFree(dsn)).isTrue();

        assertThat(start(KeyTransfer.class, dsn, "finish").answers(key)).startsWith("too late: ");
    }

    @Test
    void givenNoFile_whenManyReadAtOnce_thenOneMakesItAndAllReadTheSame() throws Exception {
        String dsn = redisDsn();
        Path file = directory.resolve("catalogue.txt");
        List<Program> readers = new ArrayList<>();
        for (String name : List.of("ann", "bob", "cleo", "dan")) {
            readers.add(start(CatalogueCache.class, dsn, file.toString(), name));
        }
        for (int round = 0; round < 3; round++) {
            assertThat(Files.deleteIfExists(file)).isEqualTo(round > 0);

            List<String> said = allAnswer(readers);

            List<String> made =
                    said.stream().filter(line -> line.startsWith("made ")).toList();
            assertThat(made).as("said: %s", said).hasSize(1);
            assertThat(said)
                    .allMatch(line -> line.substring(5).equals(made.get(0).substring(5)));
            assertThat(allAnswer(readers))
                    .allMatch(line -> line.equals("read " + made.get(0).substring(5)));
        }
    }

    @Test
    void givenThreeServers_whenOneIsKilledThenTwo_thenItGoesOnAsLongAsThereIsAMajority() throws Exception {
        RedisServer one = server();
        RedisServer two = server();
        Program quorum =
                start(QuorumOfThree.class, PatientDsn.redis(one.dsn()), PatientDsn.redis(two.dsn()), redisDsn());
        long first = number(quorum.answers("book"), "booked with token ");

        one.kill();
        long second = number(quorum.answers("book"), "booked with token ");
        assertThat(second).isGreaterThan(first);

        two.kill();
        assertThat(quorum.answers("book")).isEqualTo("no majority");

        two.restart();
        String booked = Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .until(() -> quorum.answers("book"), answer -> answer.startsWith("booked"));
        assertThat(number(booked, "booked with token ")).isGreaterThan(second);
    }

    private static List<String> allAnswer(List<Program> readers) throws IOException {
        readers.forEach(reader -> reader.tell("read"));
        List<String> said = new ArrayList<>();
        for (Program reader : readers) {
            said.add(reader.line());
        }
        return said;
    }

    private static boolean isFree(String dsn) {
        return Awaitility.await("an answer: H2 may take longer than the store waits to open its file")
                .atMost(TimeLimits.LIMIT)
                .ignoreException(LockStorageException.class)
                .until(() -> state(dsn), Optional::isPresent)
                .orElseThrow();
    }

    private static Optional<Boolean> state(String dsn) {
        try (LockFactory locks = LockFactory.connect(dsn)) {
            return Optional.of(locks.createLock("import").tryAcquire());
        }
    }

    private static long number(String line, String before) {
        assertThat(line).startsWith(before);
        return Long.parseLong(line.substring(before.length()));
    }

    private String redisDsn() {
        return PatientDsn.redis(server().dsn());
    }

    private RedisServer server() {
        RedisServer server = RedisServer.start();
        servers.add(server);
        return server;
    }

    private Program start(Class<?> example, String... arguments) throws IOException {
        Program program = Program.start(example, arguments);
        programs.add(program);
        return program;
    }
}
