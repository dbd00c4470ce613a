package dev.latchkey.mysql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.MariaDbServer;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What it costs the server, by the server's own log and counters. */
class CostIT {

    private static final String USER = "latchkey";

    private static MariaDbServer server;

    private MySqlLockStore store;
    private LockFactory locks;

    @BeforeAll
    static void start() throws Exception {
        server = MariaDbServer.start("--general-log", "--log-output=TABLE");
        Raw.run(server, "CREATE USER " + USER);
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void open() throws Exception {
        store = Stores.open(server.dsn().replace("root@", USER + "@").replace("/test", "/"));
        locks = new LockFactory(store);
        assertThat(locks.createLock("warm-up").tryAcquire()).isTrue();
    }

    @AfterEach
    void close() {
        locks.close();
        store.close();
        Awaitility.await()
                .untilAsserted(() -> assertThat(Raw.connections(server, USER)).isZero());
    }

    @Test
    void givenConnected_whenAcquiredAndReleased_thenOneStatementEach() throws Exception {
        Lock lock = locks.createLock("report");
        int before = statements().size();

        assertThat(lock.tryAcquire()).isTrue();
        assertThat(lock.release()).isTrue();

        assertThat(statementsSince(before))
                .containsExactly("SELECT GET_LOCK('report', 0)", "SELECT RELEASE_LOCK('report')");
    }

    @Test
    void givenHeldHere_whenTriedHere_thenRefusedWithoutAStatement() throws Exception {
        assertThat(locks.createLock("report").tryAcquire()).isTrue();
        int before = statements().size();

        assertThat(locks.createLock("report").tryAcquire()).isFalse();

        assertThat(statementsSince(before)).isEmpty();
    }

    @Test
    void givenNobodyRivals_when100AreHeldAtOnce_thenOnOneConnection() throws Exception {
        List<Lock> held = IntStream.range(0, 100)
                .mapToObj(i -> locks.createLock("report-" + i))
                .toList();

        held.forEach(lock -> assertThat(lock.tryAcquire()).isTrue());

        assertThat(Raw.connections(server, USER)).isEqualTo(1);
        held.forEach(lock -> assertThat(lock.release()).isTrue());
        assertThat(store.resources()).isEqualTo(1);
    }

    @Test
    void givenOneHoldsAndManyWaitHere_whenTheServerIsLookedAt_thenOneOfThemWaitsThere() throws Exception {
        Lock holder = locks.createLock("report");
        assertThat(holder.tryAcquire()).isTrue();
        List<BackgroundCall<Boolean>> waiting = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Lock waiter = locks.createLock("report");
            waiting.add(BackgroundCall.start(() -> waiter.acquire().release()));
        }
        Awaitility.await().untilAsserted(() -> assertThat(Raw.waiting(server)).isEqualTo(1));

        assertThat(Raw.connections(server, USER)).isEqualTo(2);
        assertThat(holder.release()).isTrue();
        for (BackgroundCall<Boolean> waiter : waiting) {
            assertThat(waiter.result()).isTrue();
        }
        assertThat(Raw.connections(server, USER)).isLessThanOrEqualTo(4);
    }

    /** Only pings, which are no statements: a few a second for each connection that carries something. */
    @Test
    void givenOneHoldsAndOneWaits_whenNothingHappens_thenNoStatementsAndFewPings() throws Exception {
        Lock holder = locks.createLock("report");
        assertThat(holder.tryAcquire()).isTrue();
        BackgroundCall<Boolean> waiting =
                BackgroundCall.start(() -> locks.createLock("report").acquire().release());
        Awaitility.await().untilAsserted(() -> assertThat(Raw.waiting(server)).isEqualTo(1));
        int before = statements().size();
        long start = System.nanoTime();
        int pings = pings();

        Awaitility.await()
                .during(Duration.ofSeconds(4))
                .atMost(TimeLimits.LIMIT)
                .pollInterval(Duration.ofMillis(500))
                .untilAsserted(() -> assertThat(statementsSince(before)).isEmpty());

        Awaitility.await().until(() -> pings() >= pings + 4);
        int sent = pings() - pings;
        // They go on while this thread comes late to look.
        int seconds = (int) Duration.ofNanos(System.nanoTime() - start).toSeconds();
        assertThat(sent).isBetween(4, 6 * seconds);
        assertThat(holder.release()).isTrue();
        assertThat(waiting.result()).isTrue();
    }

    @Test
    void givenHeldElsewhere_whenAWaitIsOver_thenFourStatementsMore() throws Exception {
        try (MySqlLockStore other = Stores.open(server)) {
            assertThat(new LockFactory(other).createLock("report").tryAcquire()).isTrue();
            // Has waited in the server, so that there is a connection for the next one.
            BackgroundCall<Lock> first = BackgroundCall.start(locks.createLock("report")::acquire);
            Awaitility.await()
                    .untilAsserted(() -> assertThat(Raw.waiting(server)).isEqualTo(1));
            first.interrupt();
            assertThatThrownBy(first::result).isInstanceOf(InterruptedException.class);
            int before = statements().size();

            assertThat(locks.createLock("report").tryAcquire(Duration.ofSeconds(8)))
                    .isFalse();

            // On a busy server it may be asked more than once whether it still waits.
            List<String> sent = statementsSince(before).stream().distinct().toList();
            assertThat(sent.get(0)).isEqualTo("SELECT GET_LOCK('report', 0)");
            assertThat(sent.get(1)).startsWith("SELECT GET_LOCK('report', 300) /* latchkey ");
            assertThat(sent.get(2)).contains("processlist");
            assertThat(sent.get(3)).startsWith("KILL QUERY");
            assertThat(sent.get(4)).isEqualTo("SELECT RELEASE_ALL_LOCKS()");
            assertThat(sent).hasSize(5);
        }
    }

    @Test
    void givenTwoStoresRival_when1000CyclesWereContended_thenTheErrorLogSaysNothing() throws Exception {
        int before = server.log().size();
        try (MySqlLockStore other = Stores.open(server);
                LockFactory others = new LockFactory(other)) {
            List<BackgroundCall<Boolean>> calls = new ArrayList<>();
            for (LockFactory factory : List.of(locks, locks, others, others)) {
                calls.add(BackgroundCall.start(() -> {
                    boolean all = true;
                    for (int i = 0; i < 250; i++) {
                        all &= factory.createLock("report").acquire().release();
                    }
                    return all;
                }));
            }
            for (BackgroundCall<Boolean> call : calls) {
                assertThat(call.result()).isTrue();
            }
        }

        assertThat(server.log().subList(before, server.log().size())).isEmpty();
    }

    private static int pings() throws Exception {
        return Integer.parseInt(
                Raw.ask(
                        server,
                        "SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'COM_ADMIN_COMMANDS'"));
    }

    private static List<String> statements() throws Exception {
        return Raw.rows(
                server,
                "SELECT CONVERT(argument USING utf8mb4) FROM mysql.general_log WHERE command_type = 'Query'"
                        + " AND user_host LIKE '" + USER + "%'");
    }

    private static List<String> statementsSince(int before) throws Exception {
        List<String> all = statements();
        return all.subList(before, all.size());
    }
}
