package dev.latchkey.testkit;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Who believed to hold permits of one semaphore, and when: the witness of tests, which no store is part of. Thread-safe.
 *
 * <p>At each moment, no more may be held than the smallest number of permits that one of the holders knows.
 */
public final class PermitHistory {

    private final Queue<Belief> beliefs = new ConcurrentLinkedQueue<>();

    /** Creates a history in which nothing was held. */
    public PermitHistory() {}

    /**
     * Somebody believed to hold permits.
     *
     * @param count how many
     * @param limit how many permits there are, as the holder knew it
     * @param fromNanos the {@link System#nanoTime()} after they were granted
     * @param untilNanos the same before they were released, or when the belief ended
     */
    public record Belief(int count, int limit, long fromNanos, long untilNanos) {}

    /**
     * Adds a belief that is over.
     *
     * @param belief one that lasted for no time at all is left out
     */
    public void add(Belief belief) {
        if (belief.untilNanos() - belief.fromNanos() > 0) {
            beliefs.add(belief);
        }
    }

    /**
     * Returns how many beliefs there were.
     *
     * @return those that lasted for some time
     */
    public int size() {
        return beliefs.size();
    }

    /**
     * Returns the most permits that were held at the same time.
     *
     * @return 0 if nothing was held
     */
    public int most() {
        return changes().stream()
                .mapToInt(holders -> holders.stream().mapToInt(Belief::count).sum())
                .max()
                .orElse(0);
    }

    /**
     * Finds the moments at which more was held than one of the holders knew to be there.
     *
     * @return for each of them, who held
     */
    public List<List<Belief>> violations() {
        return changes().stream()
                .filter(holders -> holders.stream().mapToInt(Belief::count).sum()
                        > holders.stream().mapToInt(Belief::limit).min().orElse(Integer.MAX_VALUE))
                .toList();
    }

    /** Who held, after each begin of a belief. */
    private List<List<Belief>> changes() {
        List<List<Belief>> changes = new ArrayList<>();
        List<Belief> held = new ArrayList<>();
        List<Belief> sorted = new ArrayList<>(beliefs);
        sorted.sort(Comparator.comparingLong(Belief::fromNanos));
        for (Belief belief : sorted) {
            held.removeIf(other -> other.untilNanos() - belief.fromNanos() <= 0);
            held.add(belief);
            changes.add(List.copyOf(held));
        }
        return changes;
    }
}
