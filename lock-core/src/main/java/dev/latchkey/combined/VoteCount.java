package dev.latchkey.combined;

import java.util.Collection;

/** Counts the votes of members about one request. Pure: the simulator of the protocol runs it as well. */
final class VoteCount {

    /** What one member says. */
    enum Vote {
        GRANTED,
        CONFLICTED,
        /** What the key claims to hold is not there. */
        LOST,
        /** It failed, or has not answered in time. */
        FAILED
    }

    /** What all of them say together. */
    enum Verdict {
        OPEN,
        GRANTED,
        CONFLICTED,
        LOST,
        FAILED
    }

    private VoteCount() {}

    /**
     * Decides as soon as no further vote can change it. A conflict or a loss is one if it alone is the reason; that too
     * many members fail is a failure of the store, never a conflict.
     */
    static Verdict early(Collection<Vote> votes, Strategy strategy, int total) {
        if (strategy.isMet(count(votes, Vote.GRANTED), total)) {
            return Verdict.GRANTED;
        }
        if (!strategy.canBeMet(count(votes, Vote.FAILED), total)) {
            return Verdict.FAILED;
        }
        if (!strategy.canBeMet(count(votes, Vote.LOST), total)) {
            return Verdict.LOST;
        }
        return strategy.canBeMet(count(votes, Vote.CONFLICTED), total) ? Verdict.OPEN : Verdict.CONFLICTED;
    }

    /**
     * Decides when no more votes are to come; who has not voted has failed. Where several things together prevented a
     * grant: a rival may have as good a part, so asking again is what helps; but a claim whose members do not say that it
     * still stands is neither confirmed nor lost.
     */
    static Verdict last(Collection<Vote> votes, Strategy strategy, int total) {
        Verdict early = early(votes, strategy, total);
        int granted = count(votes, Vote.GRANTED);
        int conflicted = count(votes, Vote.CONFLICTED);
        int lost = count(votes, Vote.LOST);
        if (early != Verdict.OPEN) {
            return early;
        }
        if (!strategy.canBeMet(total - granted - conflicted - lost, total) || conflicted == 0) {
            return Verdict.FAILED;
        }
        return lost == 0 || strategy.isMet(granted + conflicted, total) ? Verdict.CONFLICTED : Verdict.FAILED;
    }

    static int count(Collection<Vote> votes, Vote wanted) {
        return (int) votes.stream().filter(vote -> vote == wanted).count();
    }

    /** The smallest number of members that is enough. */
    static int quorum(Strategy strategy, int total) {
        int quorum = 0;
        while (quorum < total && !strategy.isMet(quorum, total)) {
            quorum++;
        }
        return quorum;
    }
}
