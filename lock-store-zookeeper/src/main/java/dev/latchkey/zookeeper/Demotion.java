package dev.latchkey.zookeeper;

import dev.latchkey.LossReason;
import dev.latchkey.spi.Response;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * Demotes an exclusive hold: deletes the second node of a promotion, or marks a writer's node. No other client is granted the
 * lock exclusively in between.
 *
 * <p>If the servers do not answer, the hold is shared from then on. The request is repeated in the background until they
 * answer, because other readers wait for it.
 */
final class Demotion {

    private final Holds holds;
    private final Hold hold;
    private final QueueNode place;
    private final @Nullable QueueNode promotion;

    /** Call it with the change of the hold locked. */
    Demotion(Holds holds, Hold hold) {
        this.holds = holds;
        this.hold = hold;
        this.place = hold.place();
        this.promotion = hold.promotion();
    }

    Response now() {
        CallTimeout<RuntimeException> limit = CallTimeout.uninterruptible(Failures.ANSWER_NANOS);
        Reply<Void> done = limit.answer(ask());
        boolean inDoubt = done.isLost();
        while (done.isLost() && !limit.isOver() && hold.isLive()) {
            limit.pause();
            done = limit.answer(ask());
        }
        boolean gone = done.is(Code.NONODE) && !(inDoubt && promotion != null);
        if (done.isSessionEnd() || gone || !hold.isLive()) {
            LossReason reason = gone ? LossReason.RELEASED_ELSEWHERE : LossReason.SESSION_LOST;
            holds.loseTo(hold, reason);
            return new Response.Lost(reason);
        }
        hold.demoted();
        if (done.isLost()) {
            hold.putInDoubt();
            later();
            throw Failures.unanswered(place.resource(), place.session().client());
        }
        settle();
        if (!done.isOk() && !done.is(Code.NODEEXISTS) && !done.is(Code.NONODE)) {
            throw Failures.of(place.resource(), done, "demoting " + place.path());
        }
        return hold.answer();
    }

    private CompletableFuture<Reply<Void>> ask() {
        Requests requests = place.session().requests();
        return promotion == null
                ? requests.mark(place.demotionMark(), place.path(), PredecessorWatches.DEMOTED)
                : requests.delete(List.of(promotion.path()));
    }

    private void settle() {
        if (promotion == null) {
            place.demote();
        } else {
            promotion.ended(WaitSignal.LOOK);
            promotion.gone();
        }
    }

    private void later() {
        if (promotion == null) {
            repeat();
        } else {
            // Its followers in this store use a watch from now on, as all others.
            promotion.ended(WaitSignal.LOOK);
            place.session().sweeper().sweep(promotion);
        }
    }

    /** Repeats the request until the mark is known to exist, or the hold has ended. */
    private void repeat() {
        var unused = ask().thenAccept(done -> {
            if (done.isOk() || done.is(Code.NODEEXISTS)) {
                place.demote();
            } else if (done.isLost() && hold.isLive()) {
                Sweeper.LATER.execute(this::repeat);
            }
        });
    }
}
