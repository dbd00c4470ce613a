package dev.latchkey.chaos;

import dev.latchkey.LockMode;
import dev.latchkey.chaos.History.Strike;
import dev.latchkey.chaos.History.Wait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The judge: finds in a {@link History} what a {@link Guarantees} excludes. Asks nobody, and changes nothing. */
final class Checker {

    /** Fewer holds or writes than these prove nothing. */
    private static final int FEWEST = 10;

    private final Guarantees promise;
    private final History history;
    private final Map<String, Belief> beliefs = new LinkedHashMap<>();
    private final List<Strike> outages;
    private final Times times;
    private final Verdict verdict = new Verdict();

    private Checker(Guarantees promise, History history) {
        this.promise = promise;
        this.history = history;
        this.times = Times.of(history);
        this.outages = history.strikes().stream()
                .filter(strike -> promise.isOutage(strike.kind()))
                .sorted(Comparator.comparingLong(Strike::at))
                .toList();
        history.holds().values().forEach(hold -> beliefs.put(hold.id(), Belief.of(hold, promise, history)));
    }

    /**
     * Judges.
     *
     * @param promise by what
     * @param history whose
     * @return the verdict on each rule
     */
    static Verdict judge(Guarantees promise, History history) {
        Checker checker = new Checker(promise, history);
        checker.exclusion();
        new TokenChecker(promise, checker.beliefs.values(), checker.times).judge(checker.verdict);
        new RegisterChecker(promise, history, checker.beliefs, checker.times).judge(checker.verdict);
        checker.waits();
        new TransferChecker(promise, checker.times).judge(checker.beliefs.values(), checker.verdict);
        new QuietChecker(promise, history, checker.beliefs, checker.times, checker.verdict).judge();
        checker.witnessed();
        checker.substance();
        return checker.verdict;
    }

    private Stream<Belief> real() {
        return beliefs.values().stream().filter(Belief::isReal).sorted(Comparator.comparingLong(Belief::from));
    }

    private void exclusion() {
        Map<String, List<Belief>> held = new HashMap<>();
        real().forEach(belief -> {
            List<Belief> open = held.computeIfAbsent(belief.hold().resource(), resource -> new ArrayList<>());
            open.removeIf(earlier -> earlier.end() <= belief.from());
            open.stream()
                    .filter(earlier ->
                            belief.hold().isExclusive() || earlier.hold().isExclusive())
                    .forEach(earlier -> verdict.refuted(
                            Rule.EXCLUSION,
                            belief.from(),
                            "two at once: " + times.show(earlier) + " | " + times.show(belief)));
            open.add(belief);
        });
        verdict.lookedAt(
                Rule.EXCLUSION,
                "%,d holds, %,d of them shared, %,d promoted, %,d demoted; %,d judged only until a fault, %,d over when they were heard of"
                        .formatted(
                                beliefs.size(),
                                beliefs.values().stream()
                                        .filter(belief -> !belief.hold().isExclusive())
                                        .count(),
                                changed(LockMode.EXCLUSIVE),
                                changed(LockMode.SHARED),
                                beliefs.values().stream().filter(Belief::cut).count(),
                                beliefs.values().stream()
                                        .filter(belief -> !belief.cut() && !belief.isReal())
                                        .count()));
    }

    private long changed(LockMode mode) {
        return history.holds().values().stream()
                .filter(hold -> hold.isChanged() && hold.isExclusive() == (mode == LockMode.EXCLUSIVE))
                .count();
    }

    private void waits() {
        long longest = 0;
        for (Wait wait : history.waits()) {
            long end = Math.min(wait.end(), history.crashOf(wait.process()));
            if (end == Hold.NEVER) {
                verdict.refuted(Rule.CONDUCT, "a wait that never ended: " + times.show(wait));
                continue;
            }
            long awake = end - wait.asked() - outages(wait.process(), wait.asked(), end);
            longest = Math.max(longest, awake);
            if (Duration.ofNanos(awake).compareTo(promise.patience()) > 0) {
                verdict.refuted(Rule.WAITS, "%.1f s awake: %s".formatted(awake / 1e9, times.show(wait)));
            }
        }
        boolean isFair = !promise.patience().equals(Guarantees.UNFAIR);
        if (!isFair) {
            verdict.notPromised(Rule.WAITS);
        }
        String bound = isFair ? " of %d s".formatted(promise.patience().toSeconds()) : "";
        verdict.lookedAt(
                Rule.WAITS,
                "%,d waits, the longest %.1f s%s".formatted(history.waits().size(), longest / 1e9, bound));
    }

    /** How much of a time a process was frozen, or without a server, which may be both at once. */
    private long outages(String process, long from, long until) {
        long total = 0;
        long counted = from;
        for (Strike strike : outages) {
            long begin = Math.max(counted, strike.at());
            long end = Math.min(until, strike.healed());
            if (end > begin && strike.hits(process)) {
                total += end - begin;
                counted = end;
            }
        }
        return total;
    }

    /** What was seen by those who were there: threads of processes, and observers of the server. */
    private void witnessed() {
        history.violations().forEach(violation -> verdict.refuted(violation.rule(), violation.at(), violation.what()));
        history.comparisons().forEach((rule, times) -> {
            verdict.lookedAt(rule, "%,d looked at on the server".formatted(times));
            if (times == 0) {
                verdict.refuted(Rule.SUBSTANCE, "nothing was looked at on the server for the rule " + rule);
            }
        });
        if (!history.comparisons().containsKey(Rule.REFUSALS)) {
            verdict.notLookedAt(Rule.REFUSALS);
        }
    }

    private void substance() {
        long writes = history.accesses().stream()
                .filter(access -> access.isWrite() && access.accepted())
                .count();
        long strikes = history.strikes().stream().map(Strike::kind).count();
        if (real().count() < FEWEST || writes < FEWEST || strikes == 0) {
            verdict.refuted(
                    Rule.SUBSTANCE,
                    real().count() + " holds, " + writes + " writes, " + strikes + " faults: at least " + FEWEST
                            + " holds and writes and a fault are needed");
        }
        verdict.lookedAt(Rule.SUBSTANCE, "%,d faults".formatted(strikes));
    }
}
