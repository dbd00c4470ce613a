package dev.latchkey.chaos;

import dev.latchkey.chaos.History.Stall;
import dev.latchkey.chaos.History.Strike;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * When nothing struck and the machine got on: only then can anything be said of how soon something happens, or of what must not
 * happen without a reason.
 */
final class QuietPeriods {

    /** After a fault connections, sessions and waits take a while to be as they were before it. */
    static final Duration SETTLING = Duration.ofSeconds(4);

    private record Span(long from, long until) {}

    /** In their order, none touching another. */
    private final List<Span> troubles = new ArrayList<>();

    private QuietPeriods() {}

    static QuietPeriods of(History history) {
        return of(Stream.concat(
                faults(history), history.stalls().stream().map(stall -> new Span(stall.from(), after(stall)))));
    }

    /** The same, whatever the machine does. */
    static QuietPeriods fromFaults(History history) {
        return of(faults(history));
    }

    private static QuietPeriods of(Stream<Span> spans) {
        QuietPeriods quiet = new QuietPeriods();
        spans.sorted(Comparator.comparingLong(Span::from)).forEach(quiet::add);
        return quiet;
    }

    private static Stream<Span> faults(History history) {
        return history.strikes().stream().map(strike -> new Span(strike.at(), after(strike)));
    }

    /** What strikes at one moment, as a cut, needs no healing. */
    private static long after(Strike strike) {
        boolean lasts = strike.healed() == Hold.NEVER && strike.over() == Hold.NEVER;
        long end = strike.healed() == Hold.NEVER ? strike.over() : strike.healed();
        return lasts ? Hold.NEVER : end + SETTLING.toNanos();
    }

    /** What did not get on has to catch up with as much. */
    private static long after(Stall stall) {
        return stall.until() + (stall.until() - stall.from());
    }

    private void add(Span span) {
        Span last = troubles.isEmpty() ? null : troubles.get(troubles.size() - 1);
        if (last == null || last.until() < span.from()) {
            troubles.add(span);
        } else {
            troubles.set(troubles.size() - 1, new Span(last.from(), Math.max(last.until(), span.until())));
        }
    }

    /** Whether all was quiet from one time to another. */
    boolean reigns(long from, long until) {
        int first = firstThatEndsAtOrAfter(from);
        return first == troubles.size() || troubles.get(first).from() > until;
    }

    private int firstThatEndsAtOrAfter(long time) {
        int low = 0;
        int high = troubles.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (troubles.get(middle).until() < time) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** How long it was quiet at a stretch, at most, within a time. */
    long longestNanos(long from, long until) {
        long longest = 0;
        long quietSince = from;
        for (int i = firstThatEndsAtOrAfter(from);
                i < troubles.size() && troubles.get(i).from() < until;
                i++) {
            longest = Math.max(longest, troubles.get(i).from() - quietSince);
            quietSince = troubles.get(i).until();
        }
        return Math.max(longest, until - quietSince);
    }

    /** How much of a time was quiet. */
    long nanosOf(long from, long until) {
        long quiet = until - from;
        for (Span trouble : troubles) {
            quiet -= Math.max(0, Math.min(until, trouble.until()) - Math.max(from, trouble.from()));
        }
        return quiet;
    }
}
