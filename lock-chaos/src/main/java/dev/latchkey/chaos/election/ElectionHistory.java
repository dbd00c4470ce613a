package dev.latchkey.chaos.election;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What came of a trial, and the judge of it.
 *
 * @param stopTime how long a callback may take to return after its term
 * @param terms all terms in which somebody believed
 * @param strikes what was done, to the leader or the server
 * @param takeOvers how long it took until somebody led again, unless the leader went on
 */
record ElectionHistory(
        Duration stopTime, List<BelievedTerm> terms, List<ElectionFault> strikes, List<TakeOver> takeOvers) {

    /**
     * Returns each pair of leaders at the same time, each number that is not greater than all before it, and each callback that
     * returned in time, and after the next one had begun.
     */
    List<String> offences() {
        List<String> offences = new ArrayList<>();
        List<BelievedTerm> byTime = terms.stream()
                .sorted(Comparator.comparingLong(BelievedTerm::since))
                .toList();
        BelievedTerm longest = null;
        BelievedTerm greatest = null;
        for (BelievedTerm term : byTime) {
            if (longest != null && longest.until() - term.since() >= 0) {
                offences.add("two leaders for %.3f s: %s, and %s"
                        .formatted((Math.min(longest.until(), term.until()) - term.since()) / 1e9, longest, term));
            }
            if (greatest != null && term.number() <= greatest.number()) {
                offences.add("a number that does not grow: " + term + " after " + greatest);
            }
            BelievedTerm before = greatest;
            if (before != null && before.isInTimeBeside(term, stopTime)) {
                offences.add("two callbacks for %.3f s: %s, and %s"
                        .formatted((before.returned().orElseThrow() - term.since()) / 1e9, before, term));
            }
            longest = longest == null || term.until() - longest.until() > 0 ? term : longest;
            greatest = greatest == null || term.number() > greatest.number() ? term : greatest;
        }
        return offences;
    }

    /** Returns for each fault how often it struck, and how long it took until somebody led again: median and maximum. */
    String figures() {
        return strikes.stream()
                .collect(Collectors.groupingBy(strike -> strike, TreeMap::new, Collectors.counting()))
                .entrySet()
                .stream()
                .map(entry -> "  %-20s %4d times".formatted(entry.getKey(), entry.getValue()) + times(entry.getKey()))
                .collect(Collectors.joining("\n"));
    }

    private String times(ElectionFault fault) {
        List<Long> millis = takeOvers.stream()
                .filter(takeOver -> takeOver.fault() == fault)
                .map(takeOver -> takeOver.nanos() / 1_000_000)
                .sorted()
                .toList();
        return millis.isEmpty()
                ? ""
                : ", %4d times followed by the next term, after %5d ms (median), %5d ms (longest)"
                        .formatted(millis.size(), millis.get(millis.size() / 2), millis.get(millis.size() - 1));
    }

    /** Returns those that took longer, of one kind of fault. */
    List<TakeOver> slowerThan(ElectionFault fault, long nanos) {
        return takeOvers.stream()
                .filter(takeOver -> takeOver.fault() == fault && takeOver.nanos() > nanos)
                .toList();
    }
}
