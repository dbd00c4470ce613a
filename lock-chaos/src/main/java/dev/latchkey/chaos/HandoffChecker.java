package dev.latchkey.chaos;

import dev.latchkey.chaos.EventLog.Event;
import dev.latchkey.chaos.Guarantees.Bound;
import dev.latchkey.chaos.History.Wait;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The part of the judge that looks at how soon a lock that is free goes to somebody who waits. Two things show that it took too
 * long: that it was quiet for longer than the bound meanwhile; and, on a machine that is never quiet, that nearly all other locks
 * were handed over meanwhile in a fraction of the time.
 */
final class HandoffChecker {

    /** What is granted for less may be over before the waiter hears of it, who then waits anew, or gives up. */
    private static final long SHORT_LEASE_NANOS = Workload.SHORT_LEASE.toNanos();

    /** So often a wait may be granted what is over when it hears of it: then it gives up. */
    private static final int UNHEARD_GRANTS = 2;

    /** Fewer that went on at the same time do not tell what the machine lets through. */
    private static final int ENOUGH_OTHERS = 50;

    /** On a busy machine no handoff takes that many times as long as 19 of 20 of the others. */
    private static final int TIMES_AS_LONG = 5;

    /** From when the lock was free and wanted. */
    private record Handoff(Belief next, long free) {

        Hold hold() {
            return next.hold();
        }

        long granted() {
            return hold().granted();
        }

        long nanos() {
            return granted() - free;
        }

        boolean meets(Handoff other) {
            return free <= other.granted() && other.free <= granted();
        }
    }

    private final Guarantees promise;
    private final History history;
    private final Map<String, List<Wait>> waits;
    private final List<History.Stall> stalls;
    private final QuietPeriods quiet;
    private final QuietPeriods faultless;
    private final Times times;

    HandoffChecker(Guarantees promise, History history, QuietPeriods quiet, Times times) {
        this.promise = promise;
        this.history = history;
        this.waits = history.waits().stream().collect(Collectors.groupingBy(Wait::resource));
        this.stalls = history.stalls();
        this.quiet = quiet;
        this.faultless = QuietPeriods.fromFaults(history);
        this.times = times;
    }

    /**
     * Judges.
     *
     * @param beliefs of all
     * @param verdict is told
     * @return in words, how many were looked at, and the slowest
     */
    String judge(Collection<Belief> beliefs, Verdict verdict) {
        List<Handoff> handoffs = handoffs(beliefs);
        long slowest = 0;
        for (Handoff handoff : handoffs) {
            long idle = quietlyIdle(handoff);
            slowest = Math.max(slowest, idle);
            long bound = promise.handoff().toNanos();
            if (idle > bound || (handoff.nanos() > bound && idleBesideOthers(handoff, handoffs) > bound)) {
                verdict.refuted(
                        Rule.HANDOFF,
                        handoff.granted(),
                        "%.3f s after it was free: %s".formatted(handoff.nanos() / 1e9, times.show(handoff.next())));
            }
        }
        return "%,d, the slowest %.3f s of %.1f s"
                .formatted(handoffs.size(), slowest / 1e9, promise.handoff().toMillis() / 1e3);
    }

    private List<Handoff> handoffs(Collection<Belief> beliefs) {
        Map<String, List<Belief>> byResource = beliefs.stream()
                .sorted(Comparator.comparingLong(Belief::from))
                .collect(Collectors.groupingBy(belief -> belief.hold().resource(), TreeMap::new, Collectors.toList()));
        List<Handoff> handoffs = new ArrayList<>();
        for (List<Belief> held : byResource.values()) {
            long freed = Long.MIN_VALUE;
            long freedByWriters = Long.MIN_VALUE;
            for (Belief next : held) {
                Hold hold = next.hold();
                Handoff handoff =
                        new Handoff(next, Math.max(hold.asked(), hold.isExclusive() ? freed : freedByWriters));
                if (handoff.nanos() > 0 && isJudged(handoff)) {
                    handoffs.add(handoff);
                }
                freed = Math.max(freed, freed(hold));
                freedByWriters = hold.isExclusive() ? Math.max(freedByWriters, freed(hold)) : freedByWriters;
            }
        }
        return handoffs;
    }

    /** A wait that ended without a hold may have been granted one meanwhile, and given it back. */
    private boolean isJudged(Handoff handoff) {
        return faultless.reigns(handoff.free(), handoff.granted())
                && !history.hasChanges(handoff.hold().resource(), handoff.free(), handoff.granted())
                && waitsBeside(handoff, Workload.LONGEST_TTL.toNanos())
                        .noneMatch(wait -> wait.outcome() != Event.GRANTED && wait.outcome() != Event.LATE);
    }

    private Stream<Wait> waitsBeside(Handoff handoff, long nanosBefore) {
        return waits.getOrDefault(handoff.hold().resource(), List.of()).stream()
                .filter(wait -> wait.end() >= handoff.free() - nanosBefore && wait.asked() <= handoff.granted());
    }

    /** When the store has it free for certain; never where that is not known. */
    private long freed(Hold first) {
        Hold hold = first.last();
        if (hold.released() != Hold.NEVER) {
            return hold.released();
        }
        return promise.bound() == Bound.LEASE ? hold.leaseEnd() : Hold.NEVER;
    }

    /** How long it was quiet at a stretch, and nobody can have had the lock. */
    private long quietlyIdle(Handoff handoff) {
        long late = waitsBeside(handoff, SHORT_LEASE_NANOS)
                .filter(wait -> wait.outcome() == Event.LATE)
                .count();
        return quiet.longestNanos(handoff.free(), handoff.granted()) - late * UNHEARD_GRANTS * SHORT_LEASE_NANOS;
    }

    /** How long nobody can have had the lock, beyond what the machine explains. */
    private long idleBesideOthers(Handoff handoff, List<Handoff> all) {
        List<Long> others = all.stream()
                .filter(other -> !other.equals(handoff) && other.meets(handoff))
                .map(Handoff::nanos)
                .sorted()
                .toList();
        if (others.size() < ENOUGH_OTHERS) {
            return 0;
        }
        long usual = others.get(others.size() * 19 / 20);
        long stalled = stalls.stream()
                .filter(stall -> stall.until() >= handoff.free() && stall.from() <= handoff.granted())
                .mapToLong(stall -> stall.until() - stall.from())
                .max()
                .orElse(0);
        long shortWaits = waitsBeside(handoff, SHORT_LEASE_NANOS)
                .filter(wait -> wait.lease() <= SHORT_LEASE_NANOS || wait.outcome() == Event.LATE)
                .count();
        return handoff.nanos() - TIMES_AS_LONG * usual - 2 * stalled - shortWaits * UNHEARD_GRANTS * SHORT_LEASE_NANOS;
    }
}
