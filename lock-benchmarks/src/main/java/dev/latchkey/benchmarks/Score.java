package dev.latchkey.benchmarks;

import java.util.ArrayList;
import java.util.List;

/** The turns of one contender, added up. */
final class Score {

    private final Contender contender;
    private final Latencies latencies = new Latencies();
    private final List<Double> speeds = new ArrayList<>();
    private final List<Double> fairness = new ArrayList<>();
    private final List<Double> cpuMicros = new ArrayList<>();
    private long cycles;
    private long commands;

    Score(Contender contender) {
        this.contender = contender;
    }

    /**
     * Adds a turn.
     *
     * @param nanos how long it was
     * @param serverCpuNanos what the server has taken of the processor
     * @param executed commands of the server
     */
    void add(List<ContenderProcess.Turn> turns, long nanos, long serverCpuNanos, long executed) {
        List<Long> perThread =
                turns.stream().flatMap(turn -> turn.cyclesPerThread().stream()).toList();
        long sum = perThread.stream().mapToLong(Long::longValue).sum();
        long fewest = perThread.stream().mapToLong(Long::longValue).min().orElse(0);
        long most = perThread.stream().mapToLong(Long::longValue).max().orElse(0);
        turns.forEach(turn -> latencies.add(turn.latencies()));
        speeds.add(sum * 1e9 / nanos);
        fairness.add(most == 0 ? 0 : (double) fewest / most);
        long cpu = serverCpuNanos
                + turns.stream().mapToLong(ContenderProcess.Turn::cpuNanos).sum();
        cpuMicros.add(cpu / 1e3 / Math.max(1, sum));
        cycles += sum;
        commands += executed;
    }

    Contender contender() {
        return contender;
    }

    Latencies latencies() {
        return latencies;
    }

    /** The median of the turns. */
    double cyclesPerSecond() {
        return median(speeds);
    }

    /** Fewest through most cycles of a thread, the median of the turns. */
    double fairness() {
        return median(fairness);
    }

    /** What clients and server take of the processor for a cycle, the median: hardly changes while others are busy. */
    double cpuMicrosPerCycle() {
        return median(cpuMicros);
    }

    double commandsPerCycle() {
        return (double) commands / cycles;
    }

    private static double median(List<Double> values) {
        return values.stream().sorted().toList().get(values.size() / 2);
    }
}
