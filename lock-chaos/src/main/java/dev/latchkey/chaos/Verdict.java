package dev.latchkey.chaos;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What came of a judgement, rule by rule. Not thread-safe. */
final class Verdict {

    private final Map<Rule, List<String>> offences = new EnumMap<>(Rule.class);
    private final Map<Rule, Long> first = new EnumMap<>(Rule.class);
    private final Map<Rule, String> figures = new EnumMap<>(Rule.class);
    private final Set<Rule> notPromised = EnumSet.noneOf(Rule.class);
    private final Set<Rule> notLookedAt = EnumSet.noneOf(Rule.class);

    /** A rule is refuted by events, at a time. */
    void refuted(Rule rule, long at, String events) {
        first.merge(rule, at, Math::min);
        refuted(rule, events);
    }

    /** A rule is refuted by events, as is seen only at the end. */
    void refuted(Rule rule, String events) {
        offences.computeIfAbsent(rule, unused -> new ArrayList<>()).add(events);
    }

    /** What was looked at for a rule. */
    void lookedAt(Rule rule, String figure) {
        figures.merge(rule, figure, (before, more) -> before + "; " + more);
    }

    /** Nobody looked whether a rule holds. */
    void notLookedAt(Rule rule) {
        notLookedAt.add(rule);
    }

    /** There is nothing to prove for a rule. */
    void notPromised(Rule rule) {
        notPromised.add(rule);
    }

    boolean isProven() {
        return offences.isEmpty();
    }

    List<String> offences(Rule rule) {
        return offences.getOrDefault(rule, List.of());
    }

    /** Returns when a rule was refuted first; {@link Hold#NEVER} if it was not, or only at the end. */
    long firstOffence(Rule rule) {
        return first.getOrDefault(rule, Hold.NEVER);
    }

    /** One word for people. */
    String on(Rule rule) {
        if (!offences(rule).isEmpty()) {
            return "REFUTED";
        }
        if (notLookedAt.contains(rule)) {
            return "not judged";
        }
        return notPromised.contains(rule) ? "no promise" : "proven";
    }

    String figure(Rule rule) {
        return figures.getOrDefault(rule, "");
    }
}
