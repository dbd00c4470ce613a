package dev.latchkey.chaos;

import dev.latchkey.chaos.Guarantees.Effect;
import dev.latchkey.chaos.History.Strike;

/**
 * From when until when a holder could rely on its hold, by the promise of the store.
 *
 * @param hold of whom
 * @param end when it was over; not after the grant if nobody was misled, or nothing is promised for it
 * @param cut whether a fault ended it, of which the store promises nothing
 */
record Belief(Hold hold, long end, boolean cut) {

    static Belief of(Hold hold, Guarantees promise, History history) {
        long end = switch (promise.bound()) {
            case LEASE -> Math.min(hold.knownEnd(), hold.leaseEnd());
            case PROCESS -> Math.min(hold.knownEnd(), history.crashOf(hold.process()));
            case SESSION -> Math.min(hold.knownEnd(), hold.lastSeen());
        };
        Belief belief = new Belief(hold, end, false);
        for (Strike strike : history.strikes()) {
            if (belief.isTouchedBy(strike, promise.effect(strike.kind()))) {
                belief = new Belief(hold, Math.min(belief.end, strike.at()), true);
            }
        }
        return belief;
    }

    private boolean isTouchedBy(Strike strike, Effect effect) {
        if (effect == Effect.NONE || end <= strike.at() || !strike.hits(hold.process())) {
            return false;
        }
        return switch (effect) {
            case NONE -> false;
            // What was asked for before may have been granted before, and be heard of only now.
            case ENDS_HOLDS -> hold.begun() <= strike.over();
            case SPOILS_CALLS ->
                hold.answers().anyMatch(answer -> answer.asked() <= strike.over() && answer.at() >= strike.at());
        };
    }

    long from() {
        return hold.granted();
    }

    /** Whether the holder ever knew of it while it lasted. */
    boolean isReal() {
        return end > from();
    }

    boolean lastsAt(long time) {
        return time >= from() && time < end;
    }
}
