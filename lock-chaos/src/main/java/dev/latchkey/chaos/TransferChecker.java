package dev.latchkey.chaos;

import dev.latchkey.chaos.Guarantees.Bound;
import java.util.Collection;

/** The part of the judge that looks at keys that were given to another process. */
final class TransferChecker {

    private final Guarantees promise;
    private final Times times;

    TransferChecker(Guarantees promise, Times times) {
        this.promise = promise;
        this.times = times;
    }

    void judge(Collection<Belief> beliefs, Verdict verdict) {
        if (promise.bound() != Bound.LEASE) {
            // What ends with a process, or its session, cannot be given to another.
            verdict.notPromised(Rule.TRANSFERS);
            return;
        }
        long given = 0;
        long received = 0;
        for (Belief belief : beliefs) {
            Hold hold = belief.hold();
            given += hold.isTransferred() ? 1 : 0;
            received += hold.giver() == null ? 0 : 1;
            if (hold.isBelievedAfterTransfer()) {
                verdict.refuted(Rule.TRANSFERS, "believed in after its key was given away: " + times.show(belief));
            }
            if (!isAsGiven(hold)) {
                verdict.refuted(
                        Rule.TRANSFERS,
                        belief.from(),
                        "received with another token or in another mode than it was given: " + times.show(belief));
            }
        }
        verdict.lookedAt(Rule.TRANSFERS, "%,d given, %,d received".formatted(given, received));
    }

    private static boolean isAsGiven(Hold hold) {
        Hold giver = hold.giver();
        return giver == null
                || (giver.isExclusive() == hold.isExclusive() && giver.token().equals(hold.token()));
    }
}
