package dev.latchkey.benchmarks;

import dev.latchkey.benchmarks.Contender.Mode;
import java.util.List;

/**
 * Contenders that are measured in alternation under the same conditions.
 *
 * @param name in the command and the raw figures
 * @param title for people
 * @param placement where clients and servers run
 * @param processes JVMs of each contender
 * @param threads of each of these, all on one resource
 * @param stride how many cycles are timed as one: more than one where reading the clock would take as long as the cycle
 * @param warmUps how many times as long as usual a JVM warms up
 * @param contenders Latchkey first
 */
record Table(
        String name,
        String title,
        Placement placement,
        int processes,
        int threads,
        int stride,
        int warmUps,
        List<Contender> contenders) {

    private static final String ALONE = "uncontended: 1 thread";

    static Table alone(Placement placement, List<Contender> contenders) {
        return new Table("uncontended", ALONE, placement, 1, 1, 1, 1, contenders);
    }

    /** Threads in a line come through fewer cycles in the same time: they warm up for twice as long. */
    static Table threads(Placement placement, List<Contender> contenders) {
        String title = "contended: 8 threads of one JVM, one lock";
        return new Table("threads", title, placement, 1, 8, 1, 2, exclusive(contenders));
    }

    static Table processes(Placement placement, List<Contender> contenders) {
        String title = "contended: 4 JVMs of 2 threads, one lock";
        return new Table("processes", title, placement, 4, 2, 1, 1, exclusive(contenders));
    }

    Table named(String otherName) {
        return new Table(otherName, title, placement, processes, threads, stride, warmUps, contenders);
    }

    Table titled(String more) {
        return new Table(name, title + more, placement, processes, threads, stride, warmUps, contenders);
    }

    Table timedInStridesOf(int cycles) {
        return new Table(name, title, placement, processes, threads, cycles, warmUps, contenders);
    }

    /** For where a cycle goes through more code than elsewhere. */
    Table warmedTimes(int times) {
        return new Table(name, title, placement, processes, threads, stride, times * warmUps, contenders);
    }

    Table unpinned() {
        return new Table(name, title, Placement.ALL_PROCESSORS, processes, threads, stride, warmUps, contenders);
    }

    boolean isContended() {
        return processes * threads > 1;
    }

    private static List<Contender> exclusive(List<Contender> contenders) {
        return contenders.stream()
                .filter(contender -> contender.mode() == Mode.EXCLUSIVE)
                .toList();
    }
}
