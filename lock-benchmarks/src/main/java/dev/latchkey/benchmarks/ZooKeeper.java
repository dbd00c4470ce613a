package dev.latchkey.benchmarks;

import dev.latchkey.LockFactory;
import dev.latchkey.testkit.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * The ZooKeeper store beside Curator's recipes, in one JVM, each over one client. The contenders take turns, and the median
 * of the turns counts. To be run on one processor, server and all: {@code taskset -c 0 ./benchmark zookeeper}.
 */
final class ZooKeeper {

    private static final int WARM_UPS = 8;
    private static final int TURNS = 11;
    private static final long TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(700);
    private static final Duration TTL = Duration.ofMinutes(5);

    private enum Contender {
        LATCHKEY("exclusive, Latchkey"),
        CURATOR("exclusive, Curator InterProcessMutex"),
        CURATOR_WRITE("exclusive, Curator InterProcessReadWriteLock"),
        LATCHKEY_SHARED("shared, Latchkey"),
        CURATOR_READ("shared, Curator InterProcessReadWriteLock");

        private final String title;

        Contender(String title) {
            this.title = title;
        }

        private Contender ours() {
            return this == LATCHKEY_SHARED || this == CURATOR_READ ? LATCHKEY_SHARED : LATCHKEY;
        }
    }

    /** A lock of a thread's own. */
    private interface Cycles {
        Callable<Boolean> forThread();
    }

    /** What the turns of one contender came to. */
    private static final class Score {
        private final List<Double> cyclesPerSecond = new ArrayList<>();
        private final List<Double> fairness = new ArrayList<>();
        private final Latencies latencies = new Latencies();

        private static double median(List<Double> values) {
            return values.stream().sorted().toList().get(values.size() / 2);
        }
    }

    /** What one thread has done in a turn. */
    private record Turn(long cycles, Latencies latencies) {}

    private ZooKeeper() {}

    static void run() {
        try (ZooKeeperServer server = ZooKeeperServer.start("maxSessionTimeout=60000");
                LockFactory locks = LockFactory.connect(server.dsn() + "?sessionTimeout=40000");
                CuratorFramework curator = CuratorFrameworkFactory.newClient(
                        server.address().toString(), 40_000, 15_000, new ExponentialBackoffRetry(1_000, 3))) {
            curator.start();
            System.out.printf(
                    "JDK %s, %s %s, %d processors, server without fsync; medians of %d turns of %d ms, in turn%n",
                    Runtime.version(),
                    System.getProperty("os.name"),
                    System.getProperty("os.arch"),
                    Runtime.getRuntime().availableProcessors(),
                    TURNS,
                    TimeUnit.NANOSECONDS.toMillis(TURN_NANOS));
            Map<Contender, Cycles> all = contenders(locks, curator);
            print("uncontended: 1 thread", measure(all, 1));
            all.remove(Contender.LATCHKEY_SHARED);
            all.remove(Contender.CURATOR_READ);
            print("contended: 8 threads, one lock", measure(all, 8));
        }
    }

    private static Map<Contender, Cycles> contenders(LockFactory locks, CuratorFramework curator) {
        Map<Contender, Cycles> cycles = new EnumMap<>(Contender.class);
        cycles.put(Contender.LATCHKEY, () -> {
            dev.latchkey.Lock lock = locks.createLock("exclusive", TTL);
            return () -> lock.acquire().release();
        });
        cycles.put(Contender.LATCHKEY_SHARED, () -> {
            dev.latchkey.Lock lock = locks.createLock("shared", TTL);
            return () -> lock.acquireShared().release();
        });
        cycles.put(Contender.CURATOR, () -> cycle(new InterProcessMutex(curator, "/curator/mutex")));
        cycles.put(
                Contender.CURATOR_WRITE,
                () -> cycle(new InterProcessReadWriteLock(curator, "/curator/write").writeLock()));
        cycles.put(
                Contender.CURATOR_READ,
                () -> cycle(new InterProcessReadWriteLock(curator, "/curator/read").readLock()));
        return cycles;
    }

    private static Callable<Boolean> cycle(InterProcessLock lock) {
        return () -> {
            lock.acquire();
            lock.release();
            return true;
        };
    }

    private static Map<Contender, Score> measure(Map<Contender, Cycles> contenders, int threads) {
        Map<Contender, Score> scores = new EnumMap<>(Contender.class);
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            for (int i = 0; i < WARM_UPS + TURNS; i++) {
                for (Map.Entry<Contender, Cycles> contender : contenders.entrySet()) {
                    List<Turn> turns = turn(pool, contender.getValue(), threads);
                    if (i >= WARM_UPS) {
                        add(scores.computeIfAbsent(contender.getKey(), key -> new Score()), turns);
                    }
                }
            }
        } finally {
            pool.shutdownNow();
        }
        return scores;
    }

    private static List<Turn> turn(ExecutorService pool, Cycles cycles, int threads) {
        long end = System.nanoTime() + TURN_NANOS;
        List<Future<Turn>> running = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            Callable<Boolean> cycle = cycles.forThread();
            running.add(pool.submit(() -> repeat(cycle, end)));
        }
        List<Turn> turns = new ArrayList<>();
        for (Future<Turn> one : running) {
            try {
                turns.add(one.get());
            } catch (ExecutionException e) {
                throw new IllegalStateException("a cycle failed", e.getCause());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted", e);
            }
        }
        return turns;
    }

    private static Turn repeat(Callable<Boolean> cycle, long endNanos) throws Exception {
        Latencies latencies = new Latencies();
        long cycles = 0;
        for (long now = System.nanoTime(); now < endNanos; cycles++) {
            if (!Objects.requireNonNull(cycle.call())) {
                throw new IllegalStateException("a lock was lost");
            }
            long after = System.nanoTime();
            latencies.add(after - now);
            now = after;
        }
        return new Turn(cycles, latencies);
    }

    private static void add(Score score, List<Turn> turns) {
        long sum = turns.stream().mapToLong(Turn::cycles).sum();
        long fewest = turns.stream().mapToLong(Turn::cycles).min().orElse(0);
        long most = turns.stream().mapToLong(Turn::cycles).max().orElse(0);
        score.cyclesPerSecond.add(sum * 1e9 / TURN_NANOS);
        score.fairness.add(most == 0 ? 0 : (double) fewest / most);
        turns.forEach(turn -> score.latencies.add(turn.latencies()));
    }

    private static void print(String title, Map<Contender, Score> scores) {
        System.out.printf("%n%s%n%n", title);
        System.out.println("| lock | cycles/s | Latchkey is | p50 µs | p99 µs | max µs | fairness |");
        System.out.println("|---|---:|---:|---:|---:|---:|---:|");
        scores.forEach((contender, score) -> {
            double cycles = Score.median(score.cyclesPerSecond);
            double ours = Score.median(Objects.requireNonNull(scores.get(contender.ours())).cyclesPerSecond);
            System.out.printf(
                    "| %s | %,.0f | %.2f× | %,.0f | %,.0f | %,.0f | %.2f |%n",
                    contender.title,
                    cycles,
                    ours / cycles,
                    score.latencies.micros(0.5),
                    score.latencies.micros(0.99),
                    score.latencies.longestMicros(),
                    Score.median(score.fairness));
        });
    }
}
