package dev.latchkey.chaos;

import java.time.Duration;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * A fault about every 0.1 s, one after the other, until enough was done.
 *
 * @param operations how many calls are to ask the store
 * @param seed of the faults
 * @param calm how likely it is that nothing strikes, beside the freezing of a process with 8 and its death with 1: more is done
 *     then, and more of what is planted
 */
record RapidFaults(long operations, long seed, int calm) implements FaultPattern {

    private static final Map<FaultKind, Integer> WEIGHTS = new EnumMap<>(Map.ofEntries(
            Map.entry(FaultKind.CRASH, 1),
            Map.entry(FaultKind.FREEZE, 8),
            Map.entry(FaultKind.CUT, 4),
            Map.entry(FaultKind.REFUSE, 1),
            Map.entry(FaultKind.SILENCE, 3),
            Map.entry(FaultKind.MUTE, 1),
            Map.entry(FaultKind.SLOW, 2),
            Map.entry(FaultKind.LOST_REPLY, 8),
            Map.entry(FaultKind.LOST_REQUEST, 5),
            Map.entry(FaultKind.LOST_MESSAGE, 5),
            Map.entry(FaultKind.CUT_AT_MESSAGE, 2),
            Map.entry(FaultKind.PAUSE, 1),
            Map.entry(FaultKind.RESTART, 1),
            Map.entry(FaultKind.FORGET, 1),
            Map.entry(FaultKind.FLUSH_SCRIPTS, 3),
            Map.entry(FaultKind.CUT_SUBSCRIBERS, 3),
            Map.entry(FaultKind.CUT_CLIENTS, 1)));

    /** Those that strike. */
    static final Set<FaultKind> KINDS = EnumSet.copyOf(WEIGHTS.keySet());

    private static final Duration STUCK = Duration.ofSeconds(60);
    private static final int SHORTEST_GAP = 20;
    private static final int LONGEST_GAP = 250;
    private static final int SHORTEST = 50;
    private static final int LONGEST = 900;
    private static final int SLOWEST = 30;

    @Override
    public void strike(StoreUnderTest store, List<WorkerSlot> places, EventLog log) throws InterruptedException {
        FaultInjector injector = new FaultInjector(store, places, log);
        SplittableRandom random = new SplittableRandom(seed);
        long lastProgress = System.nanoTime();
        long done = 0;
        while (done < operations) {
            TimeUnit.MILLISECONDS.sleep(random.nextInt(SHORTEST_GAP, LONGEST_GAP));
            strikeAny(injector, random, places.size());
            long now = places.stream().mapToLong(WorkerSlot::operations).sum();
            if (now > done) {
                done = now;
                lastProgress = System.nanoTime();
            }
            if (System.nanoTime() - lastProgress > STUCK.toNanos()) {
                log.violated(Rule.CONDUCT, "no operation for " + STUCK + ", " + done + " before");
                return;
            }
        }
    }

    private void strikeAny(FaultInjector injector, SplittableRandom random, int places) throws InterruptedException {
        int left = random.nextInt(
                calm + WEIGHTS.values().stream().mapToInt(Integer::intValue).sum());
        for (Map.Entry<FaultKind, Integer> kind : WEIGHTS.entrySet()) {
            left -= kind.getValue();
            if (left < 0) {
                injector.strike(new Fault(
                        0,
                        kind.getKey(),
                        random.nextInt(places),
                        0,
                        lasting(kind.getKey(), random),
                        random.nextInt(1, SLOWEST)));
                return;
            }
        }
    }

    /** Servers are not away for long: the next fault waits for them. */
    private static int lasting(FaultKind kind, SplittableRandom random) {
        return switch (kind) {
            case FREEZE, SILENCE, MUTE -> random.nextInt(SHORTEST, LONGEST);
            case REFUSE, SLOW -> random.nextInt(SHORTEST, LONGEST / 2);
            case PAUSE -> LONGEST / 4;
            default -> 0;
        };
    }

    @Override
    public String toString() {
        return "%,d operations, seed %d".formatted(operations, seed);
    }
}
