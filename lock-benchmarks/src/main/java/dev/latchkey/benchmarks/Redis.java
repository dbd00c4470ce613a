package dev.latchkey.benchmarks;

import dev.latchkey.testkit.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The Redis store beside its peers. Server and clients share one processor, since wake-ups across processors differ by more
 * than the contenders do; the contenders take turns, and the median of the turns counts. With that processor never idle, the
 * time it spends on a cycle says the same as cycles a second, also on a machine that has other things to do.
 */
final class Redis {

    private static final int WARM_UPS = 3;
    private static final int TURNS = 7;
    private static final long TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(1_000);
    private static final long WARM_UP_NANOS = TimeUnit.MILLISECONDS.toNanos(2_000);

    private static final Set<Contender> ALL = EnumSet.allOf(Contender.class);
    private static final Set<Contender> EXCLUSIVE =
            EnumSet.complementOf(EnumSet.of(Contender.LATCHKEY_SHARED, Contender.REDISSON_READ));

    /** Those with a queue or a message of their own: four JVMs of each of all would keep the processor busy by being there. */
    private static final Set<Contender> WAITING = EnumSet.of(
            Contender.LATCHKEY, Contender.FLOOR, Contender.REDISSON, Contender.REDISSON_FAIR, Contender.SPRING_PUB_SUB);

    /** What can be measured by itself. */
    private record Table(String name, String title, Set<Contender> contenders, int processes, int threads) {}

    private static final List<Table> TABLES = List.of(
            new Table("uncontended", "uncontended: 1 thread", ALL, 1, 1),
            new Table("threads", "contended: 8 threads of one JVM, one lock", EXCLUSIVE, 1, 8),
            new Table("processes", "contended: 4 JVMs of 2 threads, one lock", WAITING, 4, 2));

    private Redis() {}

    /**
     * Measures and prints.
     *
     * @param tables names of tables; all if there is none
     */
    static void run(List<String> tables) {
        System.out.printf(
                "JDK %s, %s %s; server and clients on one processor, medians of %d turns of %d ms, in turn%n",
                Runtime.version(),
                System.getProperty("os.name"),
                System.getProperty("os.arch"),
                TURNS,
                TimeUnit.NANOSECONDS.toMillis(TURN_NANOS));
        for (Table table : TABLES) {
            if (tables.isEmpty() || tables.contains(table.name())) {
                run(table);
            }
        }
    }

    private static void run(Table table) {
        try (RedisServer server = RedisServer.start()) {
            pin(server);
            Map<Contender, List<ContenderProcess>> started = new EnumMap<>(Contender.class);
            try {
                table.contenders().forEach(contender -> start(started, contender, server, table));
                print(table.title(), measure(started, server));
            } finally {
                started.values().forEach(list -> list.forEach(ContenderProcess::close));
            }
        }
    }

    private static void pin(RedisServer server) {
        String pid = server.text("INFO", "server")
                .lines()
                .filter(line -> line.startsWith("process_id:"))
                .findFirst()
                .orElseThrow()
                .substring("process_id:".length());
        try {
            int exit = new ProcessBuilder("taskset", "-a", "-c", "-p", "0", pid)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start()
                    .waitFor();
            if (exit != 0) {
                throw new IllegalStateException("taskset could not pin the server, process " + pid);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("no command \"taskset\", which the package util-linux has", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    /** One contender after the other, warm before the next begins: processes that start at once keep each other cold. */
    private static void start(
            Map<Contender, List<ContenderProcess>> started, Contender contender, RedisServer server, Table table) {
        List<ContenderProcess> own = new ArrayList<>();
        started.put(contender, own);
        for (int i = 0; i < table.processes(); i++) {
            own.add(ContenderProcess.start(
                    contender, server.address().host(), server.address().port(), table.threads()));
        }
        own.forEach(ContenderProcess::awaitReady);
        for (int i = 0; i < WARM_UPS; i++) {
            turn(own, WARM_UP_NANOS);
        }
    }

    private static List<Score> measure(Map<Contender, List<ContenderProcess>> contenders, RedisServer server) {
        Map<Contender, Score> scores = new EnumMap<>(Contender.class);
        contenders.keySet().forEach(contender -> scores.put(contender, new Score(contender)));
        for (int i = 0; i < TURNS; i++) {
            contenders.forEach((contender, processes) -> {
                server.call("CONFIG", "RESETSTAT");
                long cpuBefore = cpuNanos(server);
                List<ContenderProcess.Turn> turns = turn(processes, TURN_NANOS);
                long cpu = cpuNanos(server) - cpuBefore;
                Objects.requireNonNull(scores.get(contender)).add(turns, TURN_NANOS, cpu, executed(server));
            });
        }
        return List.copyOf(scores.values());
    }

    private static List<ContenderProcess.Turn> turn(List<ContenderProcess> processes, long nanos) {
        long from = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(20);
        processes.forEach(process -> process.begin(from, from + nanos));
        return processes.stream().map(ContenderProcess::end).toList();
    }

    /** Commands that the server has executed since the statistics were reset, those of scripts among them. */
    private static long executed(RedisServer server) {
        return server.text("INFO", "commandstats")
                .lines()
                .filter(line -> line.startsWith("cmdstat_") && !line.contains("|") && !line.startsWith("cmdstat_info"))
                .mapToLong(line -> Long.parseLong(line.substring(line.indexOf("calls=") + 6, line.indexOf(','))))
                .sum();
    }

    private static long cpuNanos(RedisServer server) {
        return server.text("INFO", "cpu")
                .lines()
                .filter(line -> line.matches("used_cpu_(user|sys):.*"))
                .mapToLong(line -> Math.round(1e9 * Double.parseDouble(line.substring(line.indexOf(':') + 1))))
                .sum();
    }

    private static void print(String title, List<Score> scores) {
        double ours = scores.get(0).cyclesPerSecond();
        double oursByCpu = scores.get(0).cpuMicrosPerCycle();
        System.out.printf("%n%s%n%n", title);
        System.out.println("| lock | cycles/s | Latchkey is | CPU µs/cycle | Latchkey is | p50 µs | p99 µs | max µs "
                + "| commands/cycle | fairness |");
        System.out.println("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
        for (Score score : scores) {
            System.out.printf(
                    "| %s | %,.0f | %.2f× | %,.1f | %.2f× | %,.0f | %,.0f | %,.0f | %.2f | %.2f |%n",
                    score.contender().title(),
                    score.cyclesPerSecond(),
                    ours / score.cyclesPerSecond(),
                    score.cpuMicrosPerCycle(),
                    score.cpuMicrosPerCycle() / oursByCpu,
                    score.latencies().micros(0.5),
                    score.latencies().micros(0.99),
                    score.latencies().longestMicros(),
                    score.commandsPerCycle(),
                    score.fairness());
        }
    }
}
