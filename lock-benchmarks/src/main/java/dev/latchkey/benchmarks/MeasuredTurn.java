package dev.latchkey.benchmarks;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One turn of a contender.
 *
 * @param machineSpeed round trips of a byte per second just before; null in figures that are older than it
 * @param cpuMicrosPerCycle of clients and servers; null where that of the servers cannot be known
 * @param requestsPerCycle null where the servers do not count them
 * @param overlaps how often one was let in while another was inside
 */
record MeasuredTurn(
        double cyclesPerSecond,
        @Nullable Double machineSpeed,
        List<Long> cyclesPerThread,
        @Nullable Double cpuMicrosPerCycle,
        @Nullable Double requestsPerCycle,
        long overlaps,
        Times times) {

    static MeasuredTurn of(
            double machineSpeed, List<ContenderProcess.Turn> processes, Duration length, Meter.Reading servers) {
        List<Long> perThread = processes.stream()
                .flatMap(process -> process.cyclesPerThread().stream())
                .toList();
        long cycles = perThread.stream().mapToLong(Long::longValue).sum();
        long cpuNanos =
                processes.stream().mapToLong(ContenderProcess.Turn::cpuNanos).sum();
        Latencies latencies = new Latencies();
        processes.forEach(process -> latencies.add(process.latencies()));
        return new MeasuredTurn(
                cycles * 1e9 / length.toNanos(),
                machineSpeed,
                perThread,
                perCycle(servers.cpuNanos(), cpuNanos, 1e3 * cycles),
                perCycle(servers.requests(), 0, (double) cycles),
                processes.stream().mapToLong(ContenderProcess.Turn::overlaps).sum(),
                Times.of(latencies));
    }

    private static @Nullable Double perCycle(@Nullable Long ofServers, long ofClients, double cycles) {
        return ofServers == null || cycles == 0 ? null : Double.valueOf((ofServers + ofClients) / cycles);
    }

    /** Its speed beside that of the machine, which gets faster and slower by itself. */
    double cyclesPerRoundTrip() {
        return machineSpeed == null ? cyclesPerSecond : cyclesPerSecond / machineSpeed;
    }

    /** Fewest through most cycles of a thread. */
    double fairness() {
        long most = Collections.max(cyclesPerThread);
        return most == 0 ? 0 : (double) Collections.min(cyclesPerThread) / most;
    }

    double leastShare(int processes) {
        int threads = cyclesPerThread.size() / processes;
        List<Long> perProcess = IntStream.range(0, processes)
                .mapToObj(process -> sum(cyclesPerThread.subList(process * threads, (process + 1) * threads)))
                .toList();
        long all = sum(perProcess);
        return all == 0 ? 0 : (double) Collections.min(perProcess) * processes / all;
    }

    private static long sum(List<Long> cycles) {
        return cycles.stream().mapToLong(Long::longValue).sum();
    }

    /** How long cycles took. */
    record Times(double p50Micros, double p99Micros, double maxMicros) {

        static Times of(Latencies latencies) {
            return new Times(latencies.micros(0.5), latencies.micros(0.99), latencies.longestMicros());
        }
    }
}
