package dev.latchkey.benchmarks;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.testkit.PostgresServer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The PostgreSQL advisory store beside the bare functions through the driver, which mint nothing, and beside the same with
 * what makes a durable fencing token. The contenders take turns on one thread, and the median of the turns counts. To be
 * run on one processor, server and all: {@code taskset -c 0 ./benchmark postgres-advisory}.
 */
final class PostgresAdvisory {

    private static final int WARM_UPS = 6;
    private static final int TURNS = 19;
    private static final long TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(400);
    private static final long NUMBER = 4711;

    private enum Contender {
        LATCHKEY("exclusive, Latchkey"),
        BARE_WITH_TOKEN("exclusive, pg_advisory_lock with the same token"),
        BARE("exclusive, pg_advisory_lock"),
        LATCHKEY_SHARED("shared, Latchkey"),
        BARE_SHARED("shared, pg_advisory_lock_shared");

        private final String title;

        Contender(String title) {
            this.title = title;
        }
    }

    private interface Cycle {
        boolean run() throws SQLException;
    }

    private PostgresAdvisory() {}

    static void run() {
        try (PostgresServer server = PostgresServer.start();
                LockFactory locks =
                        LockFactory.connect(server.dsn().replaceFirst("^postgresql:", "postgresql+advisory:"));
                Connection connection = server.connect()) {
            print(measure(contenders(locks.createLock("benchmark"), connection)));
        } catch (SQLException e) {
            throw new IllegalStateException("the server failed", e);
        }
    }

    private static Map<Contender, Cycle> contenders(Lock lock, Connection connection) throws SQLException {
        Map<Contender, Cycle> cycles = new EnumMap<>(Contender.class);
        cycles.put(Contender.LATCHKEY, () -> lock.tryAcquire() && lock.release());
        cycles.put(Contender.LATCHKEY_SHARED, () -> lock.tryAcquireShared() && lock.release());
        cycles.put(Contender.BARE, bare(connection, "SELECT pg_advisory_lock(?)", "SELECT pg_advisory_unlock(?)"));
        cycles.put(
                Contender.BARE_SHARED,
                bare(connection, "SELECT pg_advisory_lock_shared(?)", "SELECT pg_advisory_unlock_shared(?)"));
        cycles.put(Contender.BARE_WITH_TOKEN, bare(connection, """
                        SELECT CASE WHEN pg_advisory_lock(?)::text IS NOT NULL
                            THEN CASE WHEN pg_logical_emit_message(true, 'benchmark', '') IS NOT NULL
                            THEN pg_current_xact_id()::text::bigint END END""", "SELECT pg_advisory_unlock(?)"));
        return cycles;
    }

    @SuppressWarnings("resource") // Closed with the connection.
    private static Cycle bare(Connection connection, String takeSql, String giveUpSql) throws SQLException {
        PreparedStatement take = connection.prepareStatement(takeSql);
        PreparedStatement giveUp = connection.prepareStatement(giveUpSql);
        return () -> {
            String taken = ask(take);
            return taken != null && "t".equals(ask(giveUp));
        };
    }

    private static String ask(PreparedStatement statement) throws SQLException {
        statement.setLong(1, NUMBER);
        try (ResultSet rows = statement.executeQuery()) {
            rows.next();
            return String.valueOf(rows.getString(1));
        }
    }

    private static Map<Contender, Long> measure(Map<Contender, Cycle> contenders) throws SQLException {
        Map<Contender, List<Long>> turns = new EnumMap<>(Contender.class);
        for (int turn = 0; turn < WARM_UPS + TURNS; turn++) {
            for (Map.Entry<Contender, Cycle> contender : contenders.entrySet()) {
                long cycles = turn(contender.getValue());
                if (turn >= WARM_UPS) {
                    turns.computeIfAbsent(contender.getKey(), key -> new ArrayList<>())
                            .add(cycles);
                }
            }
        }
        Map<Contender, Long> medians = new EnumMap<>(Contender.class);
        turns.forEach((contender, all) -> {
            Collections.sort(all);
            medians.put(contender, all.get(all.size() / 2));
        });
        return medians;
    }

    private static long turn(Cycle cycle) throws SQLException {
        long start = System.nanoTime();
        long cycles = 0;
        while (System.nanoTime() - start < TURN_NANOS) {
            if (!cycle.run()) {
                throw new IllegalStateException("a cycle without a rival was refused");
            }
            cycles++;
        }
        return cycles * TimeUnit.SECONDS.toNanos(1) / TURN_NANOS;
    }

    private static void print(Map<Contender, Long> medians) {
        System.out.printf(
                "JDK %s, %s %s, %d processors, server without fsync; medians of %d turns of %d ms, in turn%n%n",
                Runtime.version(),
                System.getProperty("os.name"),
                System.getProperty("os.arch"),
                Runtime.getRuntime().availableProcessors(),
                TURNS,
                TimeUnit.NANOSECONDS.toMillis(TURN_NANOS));
        System.out.println("| cycle | a second | Latchkey's ratio to it |");
        System.out.println("|---|---:|---:|");
        medians.forEach((contender, cycles) -> {
            Contender ours = contender.title.startsWith("shared") ? Contender.LATCHKEY_SHARED : Contender.LATCHKEY;
            System.out.printf(
                    "| %s | %,d | %.2f |%n", contender.title, cycles, (double) medians.getOrDefault(ours, 0L) / cycles);
        });
    }
}
