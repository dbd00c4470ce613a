package dev.latchkey.zookeeper;

import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Attempt;
import java.util.concurrent.CompletableFuture;

/**
 * From sharing to holding exclusively, by a second node; the first stays, and with it the shared hold, whatever comes of
 * it.
 */
final class Promotion {

    private static final Attempt RELEASED = new Attempt.Lost(LossReason.RELEASED_ELSEWHERE);
    private static final Attempt SESSION_LOST = new Attempt.Lost(LossReason.SESSION_LOST);
    private static final Attempt REFUSED = new Attempt.Refused();

    private final Holds holds;
    private final Hold hold;

    Promotion(Holds holds, Hold hold) {
        this.holds = holds;
        this.hold = hold;
    }

    /** Without waiting. */
    Attempt attempt() {
        hold.change().lock();
        try {
            if (hold.promotion() != null || !hold.isLive()) {
                return hold.isLive() ? hold.answer() : RELEASED;
            }
            Place place = place(Kind.TRIAL);
            Line line = place.join(Limit.deaf(Failures.ANSWER_NANOS));
            return settle(place, line.of(place.name()));
        } finally {
            hold.change().unlock();
        }
    }

    /** Waits until it is the only one. */
    Attempt await(long endNanos, CompletableFuture<Void> stop) throws InterruptedException {
        Waiter waiter = new Waiter();
        CompletableFuture<Void> unused = stop.thenRun(() -> waiter.end(Signal.STOP));
        if (!hold.beginPromotion(waiter)) {
            return RELEASED;
        }
        Session session = hold.place().session();
        session.add(waiter);
        Limit<InterruptedException> limit = Limit.alert(Taking.joiningNanos(endNanos), waiter.ended());
        try {
            Place place = place(Kind.PROMOTER);
            Line line = place.join(limit);
            return settle(place, awaitTurn(place, line, waiter, endNanos));
        } catch (LockStorageException e) {
            if (limit.isStopped()) {
                return hold.isLive() ? Attempt.Conflicted.NO_HINT : SESSION_LOST;
            }
            throw e;
        } finally {
            session.remove(waiter);
            hold.endPromotion();
        }
    }

    private Verdict awaitTurn(Place place, Line joined, Waiter waiter, long endNanos) throws InterruptedException {
        boolean over = false;
        try {
            Line line = joined;
            while (true) {
                // Before the hold is looked at, whose end is told to the round.
                Round round = waiter.newRound();
                Verdict verdict = line.of(place.name());
                if (!hold.isLive()
                        || !(verdict instanceof Verdict.Behind behind)
                        || !Taking.await(place, behind.obstacle(), line, round, endNanos)
                                .equals(Signal.LOOK)) {
                    over = true;
                    return verdict;
                }
                line = place.look(Limit.alert(Taking.joiningNanos(endNanos), waiter.ended()));
            }
        } finally {
            if (!over) {
                place.leave(Signal.LOOK);
            }
        }
    }

    private Place place(Kind kind) {
        Place first = hold.place();
        return new Place(first.session(), first.resource(), first.parent(), hold.nextPromotionId(), kind);
    }

    private Attempt settle(Place place, Verdict verdict) {
        boolean live = place.session().isLive() && hold.isLive();
        if (verdict.equals(Verdict.FREE) && live && hold.promoted(place)) {
            return hold.answer();
        }
        place.leave(Signal.LOOK);
        if (!hold.isLive()) {
            return place.session().isLive() ? RELEASED : SESSION_LOST;
        }
        if (hold.mode() == LockMode.EXCLUSIVE) {
            return hold.answer();
        }
        if (verdict.equals(Verdict.GONE)) {
            holds.loseTo(hold, LossReason.RELEASED_ELSEWHERE);
            return RELEASED;
        }
        return verdict.equals(Verdict.REFUSED) ? REFUSED : Attempt.Conflicted.NO_HINT;
    }
}
