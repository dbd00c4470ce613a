package dev.latchkey.sticky;

import dev.latchkey.Key;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * How the Locks of this process get one resource, and give it back: from the store, from what is kept, or from one another;
 * guarded by its line. What is not kept any more is released by the last Lock that holds under it.
 */
final class LineState {

    private final WaitingLocks waiters;
    private final LocalHolds holds;
    private final Keeping keeping;
    private boolean isForgotten;

    LineState(WaitingLocks waiters, LocalHolds holds, Keeping keeping) {
        this.waiters = waiters;
        this.holds = holds;
        this.keeping = keeping;
    }

    /** Begins a call that does not wait; null if the line is not used any more. */
    @Nullable NextStep begin(Request request) {
        if (isForgotten) {
            return null;
        }
        return waiters.isEmpty() ? step(request, System.nanoTime()) : NextStep.Refused.REFUSED;
    }

    /** Goes on with a call that does not wait, when what it had to do first is done. */
    NextStep proceed(Request request) {
        return step(request, System.nanoTime());
    }

    /** Begins a promotion that does not wait, or goes on with it. */
    NextStep promote(Request request) {
        return stepToPromote(request, System.nanoTime());
    }

    /** Joins those who wait; null if the line is not used any more. */
    @Nullable LocalWaiter join(LocalWaiter waiter) {
        return isForgotten ? null : waiters.add(waiter);
    }

    /** As {@link #join}, before all others, which may wait for what it holds; null if another one does that already. */
    @Nullable LocalWaiter joinToPromote(LocalWaiter promoter) {
        return waiters.addFirst(promoter);
    }

    /** What there is to do for a waiter; null if it is to wait on. */
    @Nullable NextStep next(LocalWaiter waiter, long now, long endNanos) {
        if (waiter.granted() != null) {
            return new NextStep.Holds(waiter.granted());
        }
        if (waiter.isWithdrawn() || endNanos - now <= 0) {
            return NextStep.Refused.REFUSED;
        }
        NextStep step = waiters.isFirst(waiter) ? firstStep(waiter, now) : NextStep.Refused.REFUSED;
        return step instanceof NextStep.Refused ? null : step;
    }

    /** Has a waiter wait until it is woken, its time is over, or a hold may have ended. */
    void await(LocalWaiter waiter, long now, long endNanos) throws InterruptedException {
        long rest = endNanos - now;
        long nextEnd = holds.nanosToNextEnd(now);
        if (nextEnd == Long.MAX_VALUE) {
            waiter.await(rest);
        } else {
            waiter.awaitEnd(Math.min(rest, nextEnd));
        }
    }

    /** The wait is over. Returns whether it was granted something that it does not take. */
    boolean leave(LocalWaiter waiter, NextStep end) {
        waiters.remove(waiter);
        return waiter.granted() != null && !(end instanceof NextStep.Holds);
    }

    private NextStep firstStep(LocalWaiter first, long now) {
        return first.isPromoter() ? stepToPromote(first.request(), now) : step(first.request(), now);
    }

    private NextStep step(Request request, long now) {
        dropGone(now);
        if (keeping.isBusy() || keeping.isPromoting() || !holds.admit(request.mode(), now)) {
            return NextStep.Refused.REFUSED;
        }
        KeptHold current = keeping.kept();
        if (current != null && current.mode() == request.mode() && current.mayPassOn(now)) {
            if (current.suffices(request, now)) {
                return new NextStep.Holds(begin(LocalHold.begin(current, request, now), now));
            }
            if (current.isTimed()) {
                keeping.change();
                return new NextStep.Renew(current);
            }
        }
        KeptHold idle = takeOut(now);
        if (idle != null) {
            return new NextStep.Release(idle);
        }
        keeping.acquire();
        return new NextStep.Ask(waiters.areSeveral() || keeping.pays(now));
    }

    private NextStep stepToPromote(Request request, long now) {
        dropGone(now);
        LocalHold own = holds.find(request.key());
        if (own == null) {
            return NextStep.Gone.GONE;
        }
        if (keeping.keepsPromotionBack() || holds.areThereBeside(own, now)) {
            return NextStep.Refused.REFUSED;
        }
        keeping.keepNoMore(own.kept());
        if (keeping.kept() != null) {
            // It is idle, and would be in its way in the store.
            return new NextStep.Release(Objects.requireNonNull(keeping.takeOut()));
        }
        keeping.beginPromotion();
        return new NextStep.Promote(own);
    }

    /** Keeps nothing any more; returns what nobody is there to release. */
    private @Nullable KeptHold takeOut(long now) {
        KeptHold taken = keeping.takeOut();
        return taken == null || holds.areUnder(taken, now) ? null : taken;
    }

    private Response.Granted begin(LocalHold begun, long now) {
        holds.begin(begun, now);
        return begun.answer();
    }

    private void dropGone(long now) {
        keeping.dropGone(now);
        holds.dropGone(now);
    }

    /** The store has granted a hold to whoever asked it. Returns the answer to the Lock. */
    Response.Granted granted(Request local, Request asked, KeptHold granted) {
        if (asked.isSticky()) {
            keeping.keep(granted);
        }
        Response.Granted answer = begin(LocalHold.asGranted(granted, local), System.nanoTime());
        endCall();
        return answer;
    }

    /** The store has answered whoever renewed what is kept. Returns what it holds now; null if there is nothing kept. */
    Response.@Nullable Granted renewed(Request local, Request asked, KeptHold current, Response response) {
        Response.Granted held = null;
        long now = System.nanoTime();
        if (response instanceof Response.Granted granted && keeping.isKept(current)) {
            current.renew(asked, granted, now);
            // The answer may have come late: then what is left of the lease is all there is.
            held = begin(
                    current.suffices(local, now)
                            ? LocalHold.begin(current, local, now)
                            : LocalHold.ofTheRest(current, local),
                    now);
        } else {
            keeping.keepNoMore(current);
        }
        endCall();
        return held;
    }

    /** It may last longer than is known here: it is given back, as if others had asked for it. Returns as {@link #done}. */
    @Nullable KeptHold notRenewed(KeptHold current) {
        current.recall(System.nanoTime());
        return done();
    }

    /** What had to be done is done, or has failed. Returns what is to be released now, for which the line is busy again. */
    @Nullable KeptHold done() {
        endCall();
        return due();
    }

    /** A promotion is over. Returns as {@link #done}. */
    @Nullable KeptHold promotionDone() {
        keeping.endPromotion();
        waiters.wakeFirst();
        return due();
    }

    /** Returns what is to be released although it is idle, for which the line is busy; null if that is nothing. */
    @Nullable KeptHold due() {
        return keeping.isDue() && endIdle(System.nanoTime()) ? keeping.leaving() : null;
    }

    private void endCall() {
        keeping.endCall();
        waiters.wakeFirst();
    }

    /** What a Lock held is to be released: it is passed on or kept, if it can be; else the store has to release it. */
    NextStep release(Key local) {
        LocalHold hold = holds.find(local);
        if (hold == null) {
            return NextStep.Refused.REFUSED;
        }
        long now = System.nanoTime();
        holds.end(hold);
        KeptHold used = hold.kept();
        boolean isKept = keeping.isKept(used);
        boolean staysHeld = holds.areUnder(used, now) || (isKept && (keeping.isBusy() || staysKept(used, now)));
        if (staysHeld) {
            waiters.wakePromoter();
            return new NextStep.Holds(hold.answer());
        }
        if (!isKept) {
            return new NextStep.ReleaseUnkept(used);
        }
        KeptHold unused = keeping.takeOut();
        return new NextStep.Release(used);
    }

    /** What was not kept is released: whoever waits here has to ask the store. */
    void wakeFirst() {
        waiters.wakeFirst();
    }

    /** Those who wait come first. */
    private boolean staysKept(KeptHold used, long now) {
        if (!keeping.mayPassOn(used, now)) {
            return false;
        }
        if (waiters.isEmpty()) {
            return !used.isRecalled() && keeping.pays(now);
        }
        LocalWaiter first = waiters.first();
        while (first != null && mayPassOn(used, first, now)) {
            waiters.pass(first, begin(LocalHold.begin(used, first.request(), now), now));
            first = waiters.first();
        }
        // If the first needs something else, it sees to that itself.
        waiters.wakeFirst(first != null && holds.admit(first.request().mode(), now));
        return true;
    }

    private boolean mayPassOn(KeptHold used, LocalWaiter first, long now) {
        return !first.isPromoter()
                && !first.isWithdrawn()
                && first.request().mode() == used.mode()
                && holds.admit(used.mode(), now)
                && used.suffices(first.request(), now);
    }

    /** Somebody else asks for the resource. Returns whether what is kept is to be released, for which the line is busy. */
    boolean recall(KeptHold recalled) {
        long now = System.nanoTime();
        return keeping.recall(recalled, now) && endIdle(now);
    }

    /** When one of those who hold under a hold of the store ends by time; empty if nobody does. */
    OptionalLong nextEndNanos(KeptHold used) {
        long now = System.nanoTime();
        long rest = holds.nanosToNextEnd(used, now);
        return rest > 0 ? OptionalLong.of(now + rest) : OptionalLong.empty();
    }

    /** Ends what is over by time under a hold that is not kept. Returns whether that is to be released. */
    boolean endOverdue(KeptHold used) {
        boolean isLeft = !keeping.isKept(used) && !used.isHandedOut() && !holds.areUnder(used, System.nanoTime());
        return isLeft && !holds.endAll(used).isEmpty();
    }

    /**
     * The factory is closed: what is idle is released now, the rest when it is. Returns what the caller has to release: also what
     * another thread is about to, which may come too late.
     */
    @Nullable KeptHold close() {
        boolean unused = endIdle(System.nanoTime());
        return keeping.leaving();
    }

    private boolean endIdle(long now) {
        dropGone(now);
        KeptHold idle = keeping.kept();
        if (idle == null || keeping.isBusy() || holds.areUnder(idle, now)) {
            return false;
        }
        keeping.leave();
        return true;
    }

    boolean isKept() {
        dropGone(System.nanoTime());
        return keeping.kept() != null || keeping.leaving() != null;
    }

    /** Whether the line is out of use, and used no more from now on. */
    boolean forget() {
        long now = System.nanoTime();
        dropGone(now);
        isForgotten = keeping.isForgettable(now) && holds.isEmpty() && waiters.isEmpty();
        return isForgotten;
    }
}
