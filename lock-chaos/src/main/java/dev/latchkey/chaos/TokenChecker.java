package dev.latchkey.chaos;

import dev.latchkey.chaos.Guarantees.Fencing;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The part of the judge that looks at fencing tokens. */
final class TokenChecker {

    private final Guarantees promise;
    private final Collection<Belief> beliefs;
    private final Times times;

    TokenChecker(Guarantees promise, Collection<Belief> beliefs, Times times) {
        this.promise = promise;
        this.beliefs = beliefs;
        this.times = times;
    }

    void judge(Verdict verdict) {
        List<Belief> exclusive =
                beliefs.stream().filter(belief -> belief.hold().isExclusive()).toList();
        for (Belief belief : exclusive) {
            if (belief.hold().token().isPresent() != (promise.fencing() == Fencing.TOKENS)) {
                verdict.refuted(
                        Rule.TOKENS,
                        belief.from(),
                        "a token where none is promised, or none where one is: " + times.show(belief));
            }
        }
        if (promise.fencing() == Fencing.NONE) {
            verdict.notPromised(Rule.TOKENS);
            return;
        }
        unique(exclusive, verdict);
        grownSinceGranted(exclusive, verdict);
        grownInOrderOfHolds(exclusive, verdict);
        verdict.lookedAt(Rule.TOKENS, "%,d tokens".formatted(exclusive.size()));
    }

    /** What was received has the token of what was given. */
    private void unique(List<Belief> exclusive, Verdict verdict) {
        Map<String, Belief> byToken = new HashMap<>();
        for (Belief belief : exclusive) {
            if (belief.hold().giver() != null) {
                continue;
            }
            Belief same =
                    byToken.put(belief.hold().resource() + " " + belief.hold().token(), belief);
            if (same != null) {
                verdict.refuted(
                        Rule.TOKENS, belief.from(), "the same token: " + times.show(same) + " | " + times.show(belief));
            }
        }
    }

    /** Whoever asks after somebody was granted a hold gets a greater token, whatever became of that hold. */
    private void grownSinceGranted(List<Belief> exclusive, Verdict verdict) {
        Map<String, Belief> greatest = new HashMap<>();
        List<Belief> byGrant = exclusive.stream()
                .sorted(Comparator.comparingLong(Belief::from))
                .toList();
        List<Belief> byAsking = exclusive.stream()
                .sorted(Comparator.comparingLong(belief -> belief.hold().asked()))
                .toList();
        int granted = 0;
        for (Belief later : byAsking) {
            while (granted < byGrant.size()
                    && byGrant.get(granted).from() < later.hold().asked()) {
                Belief earlier = byGrant.get(granted++);
                greatest.merge(
                        earlier.hold().resource(), earlier, (one, other) -> token(one) > token(other) ? one : other);
            }
            Belief before = greatest.get(later.hold().resource());
            if (before != null && token(later) < token(before)) {
                verdict.refuted(Rule.TOKENS, later.from(), "fallen: " + times.show(before) + " | " + times.show(later));
            }
        }
    }

    /** Of those who relied on their holds, one after the other, also if the later had asked before. */
    private void grownInOrderOfHolds(List<Belief> exclusive, Verdict verdict) {
        Map<String, Belief> last = new HashMap<>();
        exclusive.stream()
                .filter(Belief::isReal)
                .sorted(Comparator.comparingLong(Belief::from))
                .forEach(belief -> {
                    Belief before = last.put(belief.hold().resource(), belief);
                    if (before != null && token(belief) < token(before)) {
                        verdict.refuted(
                                Rule.TOKENS,
                                belief.from(),
                                "in another order: " + times.show(before) + " | " + times.show(belief));
                    }
                });
    }

    private static long token(Belief belief) {
        return belief.hold().token().orElse(Long.MIN_VALUE);
    }
}
