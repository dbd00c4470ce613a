package dev.latchkey.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockMode;
import dev.latchkey.servers.MariaDbServer;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import dev.latchkey.testkit.TimeLimits;
import dev.latchkey.tree.TreeEditor;
import dev.latchkey.tree.TreeLocks;
import dev.latchkey.tree.TreeRequest;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What it costs the server, counted there. */
class CostIT {

    private static final String STATEMENT = ".*LOG:  (execute|statement).*";
    private static final Duration IDLE = Duration.ofSeconds(5);

    @Test
    void givenOneHolder_whenItAcquiresAndReleases_thenTheServerRunsOneStatementEach() throws Exception {
        // A pruning would be counted: the first comes among the first 20 releases, and others once in the retention.
        try (PostgresServer server = PostgresServer.start("log_statement=all");
                JdbcStore store =
                        Pools.open(Dsn.parse(server.dsn()), builder -> builder.retention(Duration.ofDays(1_000)));
                LockFactory locks = new LockFactory(store)) {
            for (int i = 0; i < 20; i++) {
                locks.createLock("warm-up").acquire().release();
            }
            int before = server.log().size();

            for (int i = 0; i < 100; i++) {
                Lock lock = locks.createLock("counted").acquire();
                lock.release();
            }

            Map<String, Long> run =
                    run(server, before).collect(Collectors.groupingBy(statement -> statement, Collectors.counting()));
            assertThat(run)
                    .isEqualTo(Map.of(
                            "INSERT INTO public.latchkey_lock AS held", 100L, "UPDATE public.latchkey_lock", 100L));
        }
    }

    @Test
    void givenAStickyLock_whenItsOwnerGoesOn_thenTheServerRunsNoStatement() throws Exception {
        try (PostgresServer server = PostgresServer.start("log_statement=all");
                JdbcStore store = Stores.open(server.dsn());
                LockFactory locks = new LockFactory(store)) {
            Lock lock = kept(locks);
            awaitQuiet(server);
            long before = statements(server);

            for (int i = 0; i < 1_000; i++) {
                lock.acquire();
                lock.release();
            }

            assertThat(statements(server)).isEqualTo(before);
        }
    }

    /** The notification is a part of the statement that reads why nothing was granted. */
    @Test
    void givenAHolder_whenARivalIsRefused_thenTheSameStatementsAreRunWhetherTheHoldIsStickyOrNot() throws Exception {
        try (PostgresServer server = PostgresServer.start("log_statement=all");
                JdbcStore store = Stores.open(server.dsn());
                LockFactory locks = new LockFactory(store);
                JdbcStore other = Stores.open(server.dsn())) {
            assertThat(other.find(Key.of("warm-up"))).isEmpty();
            Lock plain = locks.createLock("plain").acquire();
            Map<String, Long> ofPlain = refusal(server, other, "plain");
            Lock lock = kept(locks);
            lock.acquire();

            Map<String, Long> ofSticky = refusal(server, other, "sticky");

            assertThat(ofSticky).isEqualTo(ofPlain).isEqualTo(Map.of("INSERT", 1L, "SELECT", 1L));
            lock.release();
            Awaitility.await()
                    .atMost(TimeLimits.LIMIT)
                    .until(() -> locks.holders("sticky").isEmpty());
            plain.release();
        }
    }

    private static Map<String, Long> refusal(PostgresServer server, JdbcStore store, String resource) {
        awaitQuiet(server);
        int before = server.log().size();
        Request request = new Request(Key.of(resource), LockMode.EXCLUSIVE, IDLE, RetryIntent.ONCE);
        assertThat(store.save(request)).isInstanceOf(Response.Conflicted.class);
        awaitQuiet(server);
        return run(server, before)
                .collect(Collectors.groupingBy(statement -> statement.split(" ", 2)[0], Collectors.counting()));
    }

    /** Uses it until it is kept: not at once if a connection is slow to open, for then the store does not listen. */
    private static Lock kept(LockFactory locks) {
        Lock lock = locks.lock("sticky").sticky(Duration.ofMinutes(5)).create();
        Awaitility.await()
                .until(() -> lock.tryAcquire()
                        && lock.release()
                        && !locks.holders("sticky").isEmpty());
        return lock;
    }

    /** What is read is the clock with one row, a hundred rows, and as many indexes. */
    @Test
    void givenATree_whenAHundredIdsAreLocked_thenThreeReadsAndOneTransactionOfOneWriteEach() throws Exception {
        try (PostgresServer server = PostgresServer.start("log_statement=all");
                JdbcStore store = Stores.open(server.dsn());
                TreeLocks locks = TreeLocks.of(store, "counted").create();
                TreeEditor editor = locks.createEditor(id -> id.equals("root") ? List.of() : List.of("root"))) {
            // Exclusively: a row with no token is pruned after any of the first releases.
            editor.acquire(TreeRequest.exclusive("root"));
            editor.releaseAll();
            int before = server.log().size();
            Set<String> children =
                    IntStream.range(1, 100).mapToObj(i -> "part-" + i).collect(Collectors.toSet());

            editor.acquire(new TreeRequest(children, Set.of()));

            Map<String, Long> run = run(server, before)
                    .collect(Collectors.groupingBy(
                            statement -> statement.split(" ", 2)[0], TreeMap::new, Collectors.counting()));
            assertThat(run).isEqualTo(Map.of("SELECT", 3L, "BEGIN", 1L, "INSERT", 99L, "UPDATE", 1L, "COMMIT", 1L));
        }
    }

    @Test
    void givenAWaiterOnPostgreSql_whenNothingHappens_thenTheServerRunsNoStatement() throws Exception {
        try (PostgresServer server = PostgresServer.start("log_statement=all");
                JdbcStore store = Stores.open(server.dsn());
                LockFactory locks = new LockFactory(store)) {
            Lock holder = locks.createLock("held").acquire();
            Task<Lock> waiting = Task.start(() -> locks.createLock("held").acquire());
            Awaitility.await().until(() -> server.log().stream().anyMatch(line -> line.contains("LISTEN")));

            // Whoever waits asks once more after the store has begun to listen.
            Awaitility.await().during(IDLE).atMost(TimeLimits.LIMIT).until(unchanged(server));

            holder.release();
            assertThat(waiting.result().isAcquired()).isTrue();
        }
    }

    @Test
    void givenAWaiterElsewhere_whenNothingHappens_thenTheServerRunsAtMostTwoStatementsASecond() throws Exception {
        try (MariaDbServer server = MariaDbServer.start();
                JdbcStore store = Stores.open(server.dsn());
                LockFactory locks = new LockFactory(store);
                Connection connection =
                        DriverManager.getConnection(Dsn.parse(server.dsn()).url() + "&user=root")) {
            Lock holder = locks.createLock("held").acquire();
            Task<Lock> waiting = Task.start(() -> locks.createLock("held").acquire());
            long settled = inserts(connection) + 10;
            Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> inserts(connection) >= settled);
            long start = System.nanoTime();
            long before = inserts(connection);

            Awaitility.await()
                    .atMost(TimeLimits.LIMIT)
                    .until(() -> System.nanoTime() - start >= IDLE.toNanos() && inserts(connection) >= before + 3);

            long asked = inserts(connection) - before;
            // It goes on while this thread comes late to look.
            long halfSeconds = Duration.ofNanos(System.nanoTime() - start).toMillis() / 500;
            assertThat(asked).isBetween(3L, halfSeconds + 1);
            holder.release();
            assertThat(waiting.result().isAcquired()).isTrue();
        }
    }

    @Test
    void givenAThousandContendedCycles_whenTheLogIsRead_thenItHasNoErrorLine() throws Exception {
        try (PostgresServer server = PostgresServer.start();
                JdbcStore one = Stores.open(server.dsn());
                JdbcStore other = Stores.open(server.dsn());
                LockFactory locksOfOne = new LockFactory(one);
                LockFactory locksOfOther = new LockFactory(other)) {
            List<Task<Integer>> calls = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                calls.add(Task.start(() -> cycles(locksOfOne)));
                calls.add(Task.start(() -> cycles(locksOfOther)));
            }
            for (Task<Integer> call : calls) {
                assertThat(call.result()).isEqualTo(250);
            }

            // The harness asks until the server is up, and is told that it is not.
            assertThat(server.log())
                    .filteredOn(line -> !line.contains("is starting up"))
                    .noneMatch(line -> line.matches(".*(ERROR|FATAL|PANIC|WARNING):.*"));
        }
    }

    /**
     * A head of the line that has waited for some milliseconds asks for itself, and the release after that is no handoff, or
     * the handoff finds it gone: how often depends on the load. Neither the statements nor the tokens alone tell how many
     * were passed on, but at most as many as either, and all others were released.
     */
    @Test
    void givenThreadsOfOneProcess_whenTheyContend_thenHoldsArePassedOnInOneStatement() throws Exception {
        try (PostgresServer server = PostgresServer.start("log_statement=all");
                JdbcStore store = Stores.open(server.dsn());
                LockFactory locks = new LockFactory(store)) {
            locks.createLock("contended").acquire().release();
            int before = server.log().size();
            List<Long> tokens = new CopyOnWriteArrayList<>();
            CyclicBarrier start = new CyclicBarrier(4);
            List<Task<Void>> calls = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                calls.add(Task.start(() -> {
                    start.await();
                    return hundredHolds(locks, tokens);
                }));
            }
            for (Task<Void> call : calls) {
                call.result();
            }

            long handoffs = lines(server, before, "fencing_token = fencing_token + 1");
            assertThat(tokens).hasSize(400);
            assertThat(handoffs).isLessThanOrEqualTo(400);
            assertThat(lines(server, before, "SET token = '-'"))
                    .as("releases: one for each hold that was not passed on")
                    .isBetween(400 - Math.min(handoffs, followers(tokens)), 199L);
        }
    }

    /**
     * Counts the tokens that follow the last one. Who is passed the lock gets such a token; so does who asked for it, and had
     * to wait for the row until the clock that it had read was behind the tokens.
     */
    private static long followers(List<Long> tokens) {
        return IntStream.range(1, tokens.size())
                .filter(i -> tokens.get(i) == tokens.get(i - 1) + 1)
                .count();
    }

    private static long lines(PostgresServer server, int before, String part) {
        return server.log().stream()
                .skip(before)
                .filter(line -> line.contains(part))
                .count();
    }

    private static @Nullable Void hundredHolds(LockFactory locks, List<Long> tokens) throws InterruptedException {
        for (int i = 0; i < 100; i++) {
            try (Lock lock = locks.createLock("contended").acquire()) {
                tokens.add(lock.fencingToken().orElseThrow());
            }
        }
        return null;
    }

    /** The statements since then, each with its first line. */
    private static Stream<String> run(PostgresServer server, int before) {
        return server.log().stream()
                .skip(before)
                .filter(line -> line.matches(STATEMENT))
                .map(line -> line.replaceAll(".*LOG:  (execute|statement)[^:]*: ", ""))
                .filter(statement -> !isSetUp(statement));
    }

    /** What the driver and the pool send when they open a connection, and an empty statement when they try one. */
    private static boolean isSetUp(String statement) {
        return statement.isBlank() || statement.startsWith("SET ") || statement.startsWith("SHOW ");
    }

    private static int cycles(LockFactory locks) throws InterruptedException {
        int cycles = 0;
        for (; cycles < 250; cycles++) {
            Lock lock = cycles % 10 == 0
                    ? locks.createLock("contended").acquireShared()
                    : locks.createLock("contended").acquire();
            lock.release();
        }
        return cycles;
    }

    private static void awaitQuiet(PostgresServer server) {
        Awaitility.await().pollInterval(Duration.ofMillis(300)).until(unchanged(server));
    }

    /** Whether the server has run no statement since this was last asked. */
    private static Callable<Boolean> unchanged(PostgresServer server) {
        long[] last = {-1};
        return () -> {
            long now = statements(server);
            boolean quiet = now == last[0];
            last[0] = now;
            return quiet;
        };
    }

    private static long statements(PostgresServer server) {
        return server.log().stream().filter(line -> line.matches(STATEMENT)).count();
    }

    private static long inserts(Connection connection) throws Exception {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SHOW GLOBAL STATUS LIKE 'Com_insert_select'")) {
            row.next();
            return row.getLong(2);
        }
    }
}
