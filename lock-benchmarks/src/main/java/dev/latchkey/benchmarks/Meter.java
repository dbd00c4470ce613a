package dev.latchkey.benchmarks;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What servers have done: processor time and requests. */
final class Meter {

    /**
     * Its state at one moment, or the difference of two.
     *
     * @param cpuNanos null where it cannot be known
     * @param requests null where they are not counted
     */
    record Reading(@Nullable Long cpuNanos, @Nullable Long requests) {

        Reading since(Reading before) {
            return new Reading(difference(cpuNanos, before.cpuNanos), difference(requests, before.requests));
        }

        private static @Nullable Long difference(@Nullable Long after, @Nullable Long before) {
            return after == null || before == null ? null : Long.valueOf(after - before);
        }
    }

    private final Servers servers;
    private final List<ProcessHandle> processes;

    /**
     * Finds the servers' processes: those that this one has now and did not have before.
     *
     * @param others processes that are no servers
     */
    Meter(Servers servers, Set<Long> others) {
        this.servers = servers;
        this.processes = ProcessHandle.current()
                .children()
                .filter(child -> !others.contains(child.pid()))
                .toList();
    }

    static Set<Long> children() {
        return ProcessHandle.current().children().map(ProcessHandle::pid).collect(Collectors.toSet());
    }

    Reading read() {
        return new Reading(
                cpuNanos(),
                servers.requests() == null
                        ? null
                        : Long.valueOf(servers.requests().getAsLong()));
    }

    private @Nullable Long cpuNanos() {
        if (processes.isEmpty() && !servers.software().isEmpty()) {
            // In a container, or on another machine.
            return null;
        }
        return processes.stream()
                .flatMap(process -> Stream.concat(Stream.of(process), process.descendants()))
                .mapToLong(process ->
                        process.info().totalCpuDuration().orElse(Duration.ZERO).toNanos())
                .sum();
    }
}
