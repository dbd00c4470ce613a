package dev.latchkey.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What it costs the server, by the server's own log and counters. */
class CostIT {

    private static PostgresServer server;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private PostgresAdvisoryStore store;
    private LockFactory locks;

    @BeforeAll
    static void start() {
        server = PostgresServer.start("log_statement=all");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void open() {
        store = Stores.open(server);
        locks = new LockFactory(store);
    }

    @AfterEach
    void close() throws Exception {
        locks.close();
        store.close();
        threads.shutdown();
        assertThat(threads.awaitTermination(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                .isTrue();
        Awaitility.await()
                .untilAsserted(() -> assertThat(Raw.connections(server)).isZero());
    }

    @Test
    void givenConnected_whenAcquiredAndReleased_thenOneStatementEach() {
        assertThat(locks.createLock("warm-up").tryAcquire()).isTrue();
        Lock lock = locks.createLock("report");

        int before = server.log().size();
        assertThat(lock.tryAcquire()).isTrue();
        List<String> toAcquire = statementsSince(before);
        before = server.log().size();
        assertThat(lock.release()).isTrue();
        List<String> toRelease = statementsSince(before);

        assertThat(toAcquire).hasSize(1);
        assertThat(toRelease).hasSize(1);
    }

    @Test
    void givenConnected_whenSharedAndReleased_thenOneStatementEach() {
        assertThat(locks.createLock("warm-up").tryAcquire()).isTrue();
        Lock first = locks.createLock("report");
        Lock second = locks.createLock("report");

        int before = server.log().size();
        assertThat(first.tryAcquireShared()).isTrue();
        assertThat(second.tryAcquireShared()).isTrue();
        assertThat(first.release()).isTrue();
        assertThat(second.release()).isTrue();

        assertThat(statementsSince(before)).hasSize(4);
    }

    @Test
    void givenHeldHere_whenTriedHere_thenRefusedWithoutAStatement() {
        assertThat(locks.createLock("report").tryAcquire()).isTrue();

        int before = server.log().size();
        assertThat(locks.createLock("report").tryAcquire()).isFalse();

        assertThat(statementsSince(before)).isEmpty();
    }

    @Test
    void givenNobodyRivals_when100AreHeldAtOnce_thenOnOneConnection() throws Exception {
        List<Lock> held = IntStream.range(0, 100)
                .mapToObj(i -> locks.createLock("report-" + i))
                .toList();

        held.forEach(lock -> assertThat(lock.tryAcquire()).isTrue());

        assertThat(Raw.connections(server)).isEqualTo(1);
        held.forEach(lock -> assertThat(lock.release()).isTrue());
        assertThat(store.resources()).isZero();
    }

    @Test
    void givenOneHoldsAndManyWaitHere_whenTheServerIsLookedAt_thenOneOfThemWaitsThere() throws Exception {
        Lock holder = locks.createLock("report");
        assertThat(holder.tryAcquire()).isTrue();
        List<Future<Boolean>> waiting = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Lock waiter = locks.createLock("report");
            waiting.add(threads.submit(() -> waiter.acquire().release()));
        }
        Awaitility.await().untilAsserted(() -> assertThat(Raw.waiting(server)).isEqualTo(1));

        assertThat(Raw.connections(server)).isEqualTo(2);
        assertThat(holder.release()).isTrue();
        for (Future<Boolean> waiter : waiting) {
            assertThat(waiter.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
        }
        assertThat(Raw.connections(server)).isLessThanOrEqualTo(4);
    }

    @Test
    void givenOneHoldsAndOneWaits_whenNothingHappens_thenNoStatements() throws Exception {
        Lock holder = locks.createLock("report");
        assertThat(holder.tryAcquire()).isTrue();
        Lock waiter = locks.createLock("report");
        Future<Boolean> waiting = threads.submit(() -> waiter.acquire().release());
        Awaitility.await().untilAsserted(() -> assertThat(Raw.waiting(server)).isEqualTo(1));
        int before = server.log().size();

        Awaitility.await()
                .during(Duration.ofSeconds(3))
                .atMost(TimeLimits.LIMIT)
                .until(unchanged(before));

        // After 5 s of silence, which this may take, the connection is tried, by an empty statement.
        assertThat(statementsSince(before))
                .allMatch(line -> line.stripTrailing().endsWith("statement:"));
        assertThat(holder.release()).isTrue();
        assertThat(waiting.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void givenTwoStoresRival_when1000CyclesWereContended_thenNothingIsWrongInTheLog() throws Exception {
        int before = server.log().size();
        try (PostgresAdvisoryStore other = Stores.open(server)) {
            LockFactory others = new LockFactory(other);
            List<Future<?>> calls = new ArrayList<>();
            for (LockFactory factory : List.of(locks, locks, others, others)) {
                calls.add(threads.submit(() -> {
                    for (int i = 0; i < 250; i++) {
                        Lock lock = factory.createLock("report");
                        lock.acquire();
                        assertThat(lock.release()).isTrue();
                    }
                    return null;
                }));
            }
            for (Future<?> call : calls) {
                call.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS);
            }
            others.close();
        }

        List<String> log = server.log();
        assertThat(Raw.trouble(log.subList(before, log.size()))).isEmpty();
    }

    @Test
    void givenAWaitIsOver_whenTheLogIsLookedAt_thenItHasOneLineOfIt() throws Exception {
        try (PostgresAdvisoryStore other = Stores.open(server)) {
            Lock holder = new LockFactory(other).createLock("report");
            assertThat(holder.tryAcquire()).isTrue();
            // Has waited in the server, so that there is a connection for the next one.
            Future<Boolean> first =
                    threads.submit(() -> locks.createLock("report").acquire().release());
            Awaitility.await()
                    .untilAsserted(() -> assertThat(Raw.waiting(server)).isEqualTo(1));
            assertThat(holder.release()).isTrue();
            assertThat(first.get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            assertThat(holder.tryAcquire()).isTrue();
            int before = server.log().size();

            // It has to wait in the server before it is over.
            assertThat(locks.createLock("report").tryAcquire(TimeLimits.ttl(Duration.ofSeconds(5))))
                    .isFalse();

            List<String> log = server.log();
            assertThat(Raw.trouble(log.subList(before, log.size())))
                    .singleElement()
                    .asString()
                    .contains("canceling");
        }
    }

    /** Whether the server has run no statement since this was last asked. */
    private static Callable<Boolean> unchanged(int line) {
        int[] last = {0};
        return () -> {
            int now = statementsSince(line).size();
            boolean quiet = now == last[0];
            last[0] = now;
            return quiet;
        };
    }

    private static List<String> statementsSince(int line) {
        List<String> log = server.log();
        return Raw.statements(log.subList(line, log.size()));
    }
}
