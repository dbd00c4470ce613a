package dev.latchkey.benchmarks;

import java.util.Arrays;
import java.util.stream.Collectors;

/** How long cycles took, in classes one hundredth apart, so that the counts of several processes can be added up. */
final class Latencies {

    private static final double STEP = Math.log(1.01);
    private static final int CLASSES = 3_000;

    private final long[] counts = new long[CLASSES];
    private long longest;

    void add(long nanos) {
        counts[Math.min(CLASSES - 1, (int) (Math.log((double) Math.max(1, nanos)) / STEP))]++;
        longest = Math.max(longest, nanos);
    }

    void add(Latencies others) {
        for (int i = 0; i < CLASSES; i++) {
            counts[i] += others.counts[i];
        }
        longest = Math.max(longest, others.longest);
    }

    long count() {
        return Arrays.stream(counts).sum();
    }

    double longestMicros() {
        return longest / 1e3;
    }

    /** The time within which that part of all cycles ended. */
    double micros(double part) {
        long wanted = (long) Math.ceil(count() * part);
        long seen = 0;
        for (int i = 0; i < CLASSES; i++) {
            seen += counts[i];
            if (seen >= wanted) {
                return Math.exp((i + 1) * STEP) / 1e3;
            }
        }
        return longestMicros();
    }

    String text() {
        return longest + "," + Arrays.stream(counts).mapToObj(Long::toString).collect(Collectors.joining(","));
    }

    static Latencies parse(String text) {
        String[] numbers = text.split(",", -1);
        Latencies parsed = new Latencies();
        parsed.longest = Long.parseLong(numbers[0]);
        for (int i = 0; i < CLASSES; i++) {
            parsed.counts[i] = Long.parseLong(numbers[i + 1]);
        }
        return parsed;
    }
}
