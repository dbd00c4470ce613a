package dev.latchkey.chaos;

import dev.latchkey.chaos.Guarantees.Fencing;
import dev.latchkey.chaos.History.Access;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The part of the judge that looks at the {@link Register}: what came there, in which order, and what was let in. */
final class RegisterChecker {

    private final Guarantees promise;
    private final History history;
    private final Map<String, Belief> beliefs;
    private final Times times;

    RegisterChecker(Guarantees promise, History history, Map<String, Belief> beliefs, Times times) {
        this.promise = promise;
        this.history = history;
        this.beliefs = beliefs;
        this.times = times;
    }

    void judge(Verdict verdict) {
        if (promise.fencing() == Fencing.TOKENS) {
            writes(verdict);
        } else {
            verdict.notPromised(Rule.WRITES);
        }
        updates(verdict);
    }

    private void writes(Verdict verdict) {
        Map<String, Belief> latest = new HashMap<>();
        long refused = 0;
        for (Access access : history.accesses()) {
            Belief belief = beliefs.get(access.hold());
            if (belief == null || !belief.hold().token().equals(access.token())) {
                verdict.refuted(Rule.WRITES, "not with the token of a hold: " + times.show(access));
            } else if (!access.accepted()) {
                refused++;
                if (belief.lastsAt(access.at())) {
                    verdict.refuted(
                            Rule.WRITES, "the holder was refused: " + times.show(access) + " | " + times.show(belief));
                }
            } else {
                Belief later = latest.get(access.resource());
                if (later != null && isBefore(belief, later)) {
                    verdict.refuted(
                            Rule.WRITES,
                            "accepted after a later hold: " + times.show(access) + " | " + times.show(belief) + " | "
                                    + times.show(later));
                }
                latest.merge(access.resource(), belief, RegisterChecker::laterAsked);
            }
        }
        verdict.lookedAt(
                Rule.WRITES,
                "%,d accesses, %,d refused".formatted(history.accesses().size(), refused));
    }

    /** By time where that is certain, else by token. */
    private static boolean isBefore(Belief one, Belief other) {
        return one.from() < other.hold().asked()
                || one.hold().token().orElse(Long.MAX_VALUE)
                        < other.hold().token().orElse(Long.MIN_VALUE);
    }

    private static Belief laterAsked(Belief one, Belief other) {
        return other.hold().asked() >= one.hold().asked() ? other : one;
    }

    private void updates(Verdict verdict) {
        Map<String, Long> coveredWrites = new HashMap<>();
        Map<String, Long> atRead = new HashMap<>();
        long writes = 0;
        for (Access access : accepted()) {
            long covered = coveredWrites.getOrDefault(access.resource(), 0L);
            if (!access.isWrite()) {
                atRead.put(access.hold(), covered);
                continue;
            }
            writes++;
            Belief belief = beliefs.get(access.hold());
            boolean isCovered = belief != null && belief.lastsAt(access.at());
            if (access.base() != access.found() && isGuarded(isCovered, covered, atRead.get(access.hold()))) {
                verdict.refuted(Rule.UPDATES, "lost: " + times.show(access));
            }
            if (isCovered) {
                coveredWrites.put(access.resource(), covered + 1);
            }
        }
        verdict.lookedAt(Rule.UPDATES, "%,d writes".formatted(writes));
    }

    /** Without tokens a holder whose time is over can spoil what others do: only those count who relied on their holds. */
    private boolean isGuarded(boolean isCovered, long coveredWrites, @Nullable Long atRead) {
        boolean metAnother = atRead != null && coveredWrites > atRead;
        return promise.fencing() == Fencing.TOKENS || (isCovered && metAnother);
    }

    private List<Access> accepted() {
        return history.accesses().stream().filter(Access::accepted).toList();
    }
}
