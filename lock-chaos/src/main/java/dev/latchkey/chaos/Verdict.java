package dev.latchkey.chaos;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** What came of a judgement, rule by rule. Not thread-safe. */
final class Verdict {

    private final Map<Rule, List<String>> offences = new EnumMap<>(Rule.class);
    private final Map<Rule, String> figures = new EnumMap<>(Rule.class);

    /** A rule is refuted by events. */
    void refuted(Rule rule, String events) {
        offences.computeIfAbsent(rule, unused -> new ArrayList<>()).add(events);
    }

    /** What was looked at for a rule. */
    void lookedAt(Rule rule, String figure) {
        figures.put(rule, figure);
    }

    boolean isProven() {
        return offences.isEmpty();
    }

    List<String> offences(Rule rule) {
        return offences.getOrDefault(rule, List.of());
    }

    String figure(Rule rule) {
        return figures.getOrDefault(rule, "");
    }
}
