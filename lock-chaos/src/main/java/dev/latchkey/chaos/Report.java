package dev.latchkey.chaos;

import dev.latchkey.chaos.EventLog.Event;
import dev.latchkey.chaos.History.Strike;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Tells people what came of a trial. */
final class Report {

    private static final int SHOWN = 10;

    private Report() {}

    static void print(
            PrintStream out, String store, Trial trial, Guarantees promise, History history, Verdict verdict) {
        out.printf("%n%s: %s in %s%n", store, verdict.isProven() ? "PROVEN" : "REFUTED", trial.faults());
        out.println("  faults      " + faults(history));
        out.println("  calls       " + outcomes(history));
        if (!promise.words().isEmpty()) {
            out.println("  not judged  " + promise.words());
        }
        for (Rule rule : Rule.values()) {
            List<String> offences = verdict.offences(rule);
            String figure = verdict.figure(rule).isEmpty() ? "" : " (" + verdict.figure(rule) + ")";
            out.printf("  %-12s%s%s%n", verdict.on(rule), rule.text(), figure);
            offences.stream().limit(SHOWN).forEach(offence -> out.println("              - " + offence));
            if (offences.size() > SHOWN) {
                out.println("              and " + (offences.size() - SHOWN) + " more");
            }
        }
        if (!verdict.isProven()) {
            out.println("  the logs    " + trial.directory());
        }
    }

    private static String faults(History history) {
        return history.strikes().stream()
                .collect(Collectors.groupingBy(Strike::kind, TreeMap::new, Collectors.counting()))
                .entrySet()
                .stream()
                .map(entry -> entry.getValue() + " " + name(entry.getKey()))
                .collect(Collectors.joining(", "));
    }

    private static String outcomes(History history) {
        Map<Event, Long> counts =
                history.waits().stream().collect(Collectors.groupingBy(History.Wait::outcome, Collectors.counting()));
        return "%,d granted, %,d refused, %,d failed, %,d interrupted, %,d cut short by a crash"
                .formatted(
                        counts.getOrDefault(Event.GRANTED, 0L),
                        counts.getOrDefault(Event.REFUSED, 0L),
                        counts.getOrDefault(Event.FAILED, 0L),
                        counts.getOrDefault(Event.INTERRUPTED, 0L),
                        counts.getOrDefault(Event.ASKED, 0L));
    }

    private static String name(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
