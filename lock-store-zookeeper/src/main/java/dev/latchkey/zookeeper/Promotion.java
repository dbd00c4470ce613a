package dev.latchkey.zookeeper;

import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * Promotes a shared hold by a second node. The first node stays, and with it the shared hold, whatever the result.
 */
final class Promotion {

    private static final Response RELEASED = new Response.Lost(LossReason.RELEASED_ELSEWHERE);
    private static final Response SESSION_LOST = new Response.Lost(LossReason.SESSION_LOST);
    private static final Response REFUSED = new Response.Refused();

    private final Holds holds;
    private final Hold hold;

    Promotion(Holds holds, Hold hold) {
        this.holds = holds;
        this.hold = hold;
    }

    /** Without waiting. */
    Response attempt() {
        hold.change().lock();
        try {
            if (hold.promotion() != null || !hold.isLive()) {
                return hold.isLive() ? hold.answer() : RELEASED;
            }
            QueueNode place = place(NodeKind.TRIAL);
            WaitQueue line = place.join(CallTimeout.uninterruptible(Failures.ANSWER_NANOS));
            return settle(place, line.of(place.name()), place.recall(line));
        } finally {
            hold.change().unlock();
        }
    }

    /** Waits until it is the only one. */
    Response await(long endNanos, CompletableFuture<Void> stop) throws InterruptedException {
        Waiter waiter = new Waiter();
        CompletableFuture<Void> unused = stop.thenRun(() -> waiter.end(WaitSignal.STOP));
        if (!hold.beginPromotion(waiter)) {
            return RELEASED;
        }
        Session session = hold.place().session();
        session.add(waiter);
        CallTimeout<InterruptedException> limit =
                CallTimeout.interruptible(Acquirer.joiningNanos(endNanos), waiter.ended());
        try {
            QueueNode place = place(NodeKind.PROMOTER);
            WaitQueue line = place.join(limit);
            return settle(place, awaitTurn(place, line, waiter, endNanos), CompletableFuture.completedFuture(false));
        } catch (LockStorageException e) {
            if (limit.isStopped()) {
                return hold.isLive() ? Response.Conflicted.NO_HINT : SESSION_LOST;
            }
            throw e;
        } finally {
            session.remove(waiter);
            hold.endPromotion(waiter);
        }
    }

    private QueuePosition awaitTurn(QueueNode place, WaitQueue joined, Waiter waiter, long endNanos)
            throws InterruptedException {
        boolean over = false;
        try {
            WaitQueue line = joined;
            while (true) {
                // Before the hold is looked at, whose end is told to the round.
                WaitRound round = waiter.newRound();
                QueuePosition verdict = line.of(place.name());
                CompletableFuture<Boolean> unused = place.recall(line);
                if (!hold.isLive()
                        || !(verdict instanceof QueuePosition.Behind behind)
                        || !Acquirer.await(place, behind.obstacle(), line, round, endNanos)
                                .equals(WaitSignal.LOOK)) {
                    over = true;
                    return verdict;
                }
                line = place.look(CallTimeout.interruptible(Acquirer.joiningNanos(endNanos), waiter.ended()));
            }
        } finally {
            if (!over) {
                place.leave(WaitSignal.LOOK);
            }
        }
    }

    private QueueNode place(NodeKind kind) {
        QueueNode first = hold.place();
        return new QueueNode(first.session(), first.resource(), first.parent(), hold.nextPromotionId(), kind);
    }

    private Response settle(QueueNode place, QueuePosition verdict, CompletableFuture<Boolean> recalled) {
        boolean live = place.session().isLive() && hold.isLive();
        if (verdict.equals(QueuePosition.FREE) && live && hold.promoted(place)) {
            return hold.answer();
        }
        place.leave(WaitSignal.LOOK);
        if (!hold.isLive()) {
            return place.session().isLive() ? RELEASED : SESSION_LOST;
        }
        if (hold.mode() == LockMode.EXCLUSIVE) {
            return hold.answer();
        }
        if (verdict.equals(QueuePosition.GONE)) {
            holds.loseTo(hold, LossReason.RELEASED_ELSEWHERE);
            return RELEASED;
        }
        return verdict.equals(QueuePosition.REFUSED)
                ? REFUSED
                : new Response.Conflicted(Duration.ZERO, recalled.getNow(false));
    }
}
