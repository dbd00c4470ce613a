package dev.latchkey.chaos;

import dev.latchkey.chaos.EventLog.Event;
import dev.latchkey.chaos.History.Wait;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The part of the judge that looks at quiet times: what is free is had in time and in the order of arrival, and nothing fails, is
 * lost or is answered wrongly without a reason.
 */
final class QuietChecker {

    /** Two that asked within this time may be in either order: what counts is which came to the server first. */
    private static final long SAME_MOMENT_NANOS = 100_000_000;

    /** What is granted for less may be over before the waiter hears of it, who then waits anew, at the end of the line. */
    private static final long SHORT_LEASE_NANOS = Workload.SHORT_LEASE.toNanos();

    /** Fewer quiet holds a second than this are too few to call it service. */
    private static final double LEAST_HOLDS_PER_SECOND = 1;

    private final Guarantees promise;
    private final History history;
    private final Map<String, Belief> beliefs;
    private final Times times;
    private final QuietPeriods quiet;
    private final Verdict verdict;

    QuietChecker(Guarantees promise, History history, Map<String, Belief> beliefs, Times times, Verdict verdict) {
        this.promise = promise;
        this.history = history;
        this.beliefs = beliefs;
        this.times = times;
        this.quiet = QuietPeriods.of(history);
        this.verdict = verdict;
    }

    void judge() {
        handoffs();
        order();
        reasons();
        throughput();
    }

    /** What is free goes to somebody who waits, at once but for what the store takes to tell. */
    private void handoffs() {
        String judged = new HandoffChecker(promise, history, quiet, times).judge(beliefs.values(), verdict);
        verdict.lookedAt(
                Rule.HANDOFF,
                "%s; %.0f s were quiet, the machine stalled %,d times"
                        .formatted(judged, quietSeconds(), history.stalls().size()));
    }

    /** Nobody overtakes who has waited for longer. */
    private void order() {
        if (promise.order() == Guarantees.Order.NONE) {
            verdict.notPromised(Rule.ORDER);
            return;
        }
        Map<String, List<Wait>> byResource = new HashMap<>();
        history.waits()
                .forEach(wait -> byResource
                        .computeIfAbsent(wait.resource(), resource -> new ArrayList<>())
                        .add(wait));
        long judged = 0;
        for (List<Wait> waits : byResource.values()) {
            waits.sort(Comparator.comparingLong(Wait::asked));
            List<Wait> waiting = new ArrayList<>();
            for (Wait next : waits) {
                waiting.removeIf(earlier -> earlier.end() <= next.asked());
                for (Wait earlier : waiting) {
                    judged += 1;
                    if (overtakes(next, earlier)) {
                        verdict.refuted(
                                Rule.ORDER,
                                earlier.end(),
                                "overtaken: " + times.show(earlier) + " | " + times.show(next));
                    }
                }
                waiting.add(next);
            }
        }
        verdict.lookedAt(Rule.ORDER, "%,d pairs".formatted(judged));
    }

    private boolean overtakes(Wait next, Wait earlier) {
        return next.outcome() == Event.GRANTED
                && earlier.outcome() == Event.GRANTED
                && earlier.lease() >= SHORT_LEASE_NANOS
                && next.asked() - earlier.asked() > SAME_MOMENT_NANOS
                && earlier.end() - next.end() > SAME_MOMENT_NANOS
                && quiet.reigns(earlier.asked(), earlier.end())
                && !history.hasChanges(earlier.resource(), earlier.asked(), earlier.end());
    }

    /** Nothing fails, is refused, is lost, or is said not to have been held, without a reason. */
    private void reasons() {
        for (Wait wait : history.waits()) {
            boolean isTooEarly = wait.outcome() == Event.REFUSED && wait.end() - wait.asked() < wait.maxWait();
            if ((isTooEarly || wait.outcome() == Event.FAILED) && quiet.reigns(wait.asked(), wait.end())) {
                verdict.refuted(Rule.REASONS, wait.end(), "a wait: " + times.show(wait));
            }
        }
        long judged = 0;
        for (Belief belief : beliefs.values()) {
            Hold hold = belief.hold();
            long end = Math.min(hold.lost(), hold.released());
            if (end == Hold.NEVER || !quiet.reigns(hold.asked(), end)) {
                continue;
            }
            judged++;
            if (hold.lost() < Math.min(hold.leaseEnd(), hold.ended())) {
                verdict.refuted(Rule.REASONS, hold.lost(), "lost before its lease was over: " + times.show(belief));
            }
            // Who asks near the end of the lease may come after it.
            boolean wasOver = hold.ended() == Hold.NEVER || hold.released() > hold.leaseEnd();
            if (!hold.foundByRelease() && !wasOver) {
                verdict.refuted(Rule.REASONS, hold.released(), "not found by its release: " + times.show(belief));
            }
        }
        history.notReceived().forEach((giver, at) -> {
            Belief given = beliefs.get(giver);
            if (given != null
                    && at < given.hold().leaseEnd()
                    && quiet.reigns(given.hold().asked(), at)) {
                verdict.refuted(Rule.REASONS, at, "not held as its key was received: " + times.show(given));
            }
        });
        verdict.lookedAt(
                Rule.REASONS,
                "%,d waits and %,d holds".formatted(history.waits().size(), judged));
    }

    /** Between the first hold and the last. */
    private double quietSeconds() {
        long from = beliefs.values().stream().mapToLong(Belief::from).min().orElse(0);
        long until = beliefs.values().stream().mapToLong(Belief::from).max().orElse(0);
        return quiet.nanosOf(from, until) / 1e9;
    }

    /** Of whole seconds only: on a busy machine a moment may be quiet in which nobody was granted anything. */
    private void throughput() {
        double seconds = quietSeconds();
        long granted = beliefs.values().stream()
                .filter(belief -> quiet.reigns(belief.from(), belief.from()))
                .count();
        if (granted < Math.floor(seconds) * LEAST_HOLDS_PER_SECOND) {
            verdict.refuted(Rule.SUBSTANCE, "%,d holds in %.1f quiet seconds".formatted(granted, seconds));
        }
    }
}
