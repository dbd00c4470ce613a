package dev.latchkey.sticky;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One resource as this process knows it: the hold of the store that it keeps, the Locks that hold, and those that wait; guarded
 * by its line. What is kept is for the next Lock that asks, unless it is recalled, or used in another way than it was granted:
 * then it is kept no more, and the last Lock that holds under it releases it. One Lock at a time asks the store for a hold, and
 * the line is busy meanwhile.
 */
final class LineState {

    private final WaitingLocks waiters = new WaitingLocks();
    private final LocalHolds holds = new LocalHolds();
    private final RecallHistory history = new RecallHistory();
    private @Nullable KeptHold kept;

    /** What is being released although it is idle. */
    private @Nullable KeptHold leaving;

    private boolean isBusy;
    private boolean isClosing;
    private boolean isForgotten;

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

    /** Begins a promotion that does not wait. */
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

    /** How long a waiter that is not woken may wait before it looks again. */
    long nanosToNextEnd(long now) {
        return holds.nanosToNextEnd(now);
    }

    boolean isHeld() {
        return !holds.isEmpty();
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
        dropOver(now);
        if (isBusy || !holds.admit(request.mode(), now)) {
            return NextStep.Refused.REFUSED;
        }
        KeptHold current = kept;
        if (current != null && current.mode() == request.mode() && current.mayPassOn(now)) {
            if (current.suffices(request, now)) {
                return new NextStep.Holds(begin(LocalHold.begin(current, request, now), now));
            }
            isBusy = true;
            return new NextStep.Renew(current);
        }
        kept = null;
        isBusy = true;
        return current == null || holds.areUnder(current, now)
                ? new NextStep.Ask(waiters.areSeveral() || history.keeps(now))
                : new NextStep.Release(current);
    }

    private NextStep stepToPromote(Request request, long now) {
        dropOver(now);
        LocalHold own = holds.find(request.key());
        if (own == null) {
            return NextStep.Gone.GONE;
        }
        if (isBusy || holds.areThereBeside(own, now)) {
            return NextStep.Refused.REFUSED;
        }
        keepNoMore(own.kept());
        isBusy = true;
        return new NextStep.Promote(own.kept());
    }

    private Response.Granted begin(LocalHold begun, long now) {
        holds.begin(begun, now);
        return begun.answer();
    }

    /** What somebody is renewing is over only if the store says so; what it may keep still is to be released. */
    private void dropOver(long now) {
        boolean isGone = kept != null && !isBusy && kept.isGone(now);
        kept = isGone ? null : kept;
        holds.dropOver(now);
    }

    private void keepNoMore(KeptHold used) {
        kept = kept == used ? null : kept;
    }

    /** What the store has granted, and the answer to the Lock that asked. */
    record Begun(KeptHold kept, Response.Granted answer) {}

    /** The store has granted a hold to whoever asked it. */
    Begun granted(Request local, Request asked, Response.Granted granted) {
        long now = System.nanoTime();
        KeptHold begun = new KeptHold(asked, granted, now);
        kept = asked.isSticky() ? begun : null;
        Response.Granted answer = begin(LocalHold.asGranted(begun, local), now);
        endBusy();
        return new Begun(begun, answer);
    }

    /** The store has answered whoever renewed what is kept. Returns what it holds now; null if there is nothing kept. */
    Response.@Nullable Granted renewed(Request local, Request asked, KeptHold current, Response response) {
        Response.Granted held = null;
        long now = System.nanoTime();
        if (response instanceof Response.Granted granted && kept == current) {
            current.renew(asked, granted, now);
            // The answer may have come late: then what is left of the lease is all there is.
            held = begin(
                    current.suffices(local, now)
                            ? LocalHold.begin(current, local, now)
                            : LocalHold.ofTheRest(current, local),
                    now);
        } else {
            keepNoMore(current);
        }
        endBusy();
        return held;
    }

    /** What had to be done is done, or has failed. Returns what is to be released now, for which the line is busy again. */
    @Nullable KeptHold done() {
        endBusy();
        return due();
    }

    /** Returns what is to be released although it is idle, for which the line is busy; null if that is nothing. */
    @Nullable KeptHold due() {
        boolean isDue = kept != null && (kept.isRecalled() || isClosing);
        return isDue && endIdle(System.nanoTime()) ? leaving : null;
    }

    private void endBusy() {
        isBusy = false;
        leaving = null;
        waiters.wakeFirst();
    }

    /** What a Lock holds, or held until a moment ago, under its key; null if that is nothing here. */
    @Nullable LocalHold find(Key local) {
        return holds.find(local);
    }

    /** The answer to a Lock about what it holds; null if that has ended. */
    Response.@Nullable Granted answerTo(Key local) {
        LocalHold hold = holds.find(local);
        return hold == null ? null : hold.answer();
    }

    /** Whether a request of a Lock is one for what is kept, which it leaves as it is; what it may change is kept no more. */
    boolean staysKept(Request local, KeptHold used) {
        boolean isSame = local.isSticky() && local.mode() == used.mode() && local.leaseChange() == LeaseChange.EXTEND;
        if (!isSame) {
            keepNoMore(used);
        }
        return isSame && kept == used;
    }

    /** Whether another Lock holds under the same hold of the store as one. */
    boolean isShared(LocalHold own) {
        return holds.areUnderItsHold(own, System.nanoTime());
    }

    /** A Lock that holds has asked the store about that; returns what it holds now, null if that has ended. */
    Response.@Nullable Granted confirm(Request local, Request asked, KeptHold used, Response.Granted granted) {
        LocalHold hold = holds.find(local.key());
        if (hold == null || hold.kept() != used) {
            return null;
        }
        long now = System.nanoTime();
        long before = now + hold.nanosToEnd(now);
        used.renew(asked, granted, now);
        // What is kept may last longer than what was asked for, from an earlier moment on.
        long end = KeptHold.endFor(local, granted.lease());
        boolean maySetIt = local.leaseChange() == LeaseChange.SET || end - before > 0;
        hold.renew(granted, maySetIt ? end : before);
        // It may end sooner, or be shared from now on.
        waiters.wakeFirst();
        return hold.answer();
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
        boolean staysHeld = holds.areUnder(used, now) || (used == kept && (isBusy || staysKept(used, now)));
        if (staysHeld) {
            waiters.wakePromoter();
            return new NextStep.Holds(hold.answer());
        }
        if (used != kept) {
            return new NextStep.ReleaseUnkept(used);
        }
        kept = null;
        isBusy = true;
        return new NextStep.Release(used);
    }

    /** What was not kept is released: whoever waits here has to ask the store. */
    void wakeFirst() {
        waiters.wakeFirst();
    }

    /** Those who wait come first. */
    private boolean staysKept(KeptHold used, long now) {
        if (isClosing || !used.mayPassOn(now)) {
            return false;
        }
        if (waiters.isEmpty()) {
            return !used.isRecalled() && history.keeps(now);
        }
        LocalWaiter first = waiters.first();
        while (first != null && mayPassOn(used, first, now)) {
            waiters.pass(first, begin(LocalHold.begin(used, first.request(), now), now));
            first = waiters.first();
        }
        // If the first needs something else, it sees to that itself.
        waiters.wakeFirst(holds.admit(LockMode.EXCLUSIVE, now));
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
        if (kept != recalled || recalled.isRecalled()) {
            return false;
        }
        long now = System.nanoTime();
        recalled.recall(now);
        history.recalled(recalled.grantedAt(), now);
        return endIdle(now);
    }

    /**
     * The factory is closed: what is idle is released now, the rest when it is. Returns what the caller has to release: also what
     * another thread is about to, which may come too late.
     */
    @Nullable KeptHold close() {
        isClosing = true;
        boolean unused = endIdle(System.nanoTime());
        return leaving;
    }

    private boolean endIdle(long now) {
        dropOver(now);
        if (kept == null || isBusy || holds.areUnder(kept, now)) {
            return false;
        }
        leaving = kept;
        kept = null;
        isBusy = true;
        return true;
    }

    /** The store has lost a hold. Returns what tells the Locks that held under it. */
    List<CompletableFuture<LossReason>> lose(KeptHold lost) {
        keepNoMore(lost);
        List<CompletableFuture<LossReason>> told = holds.endAll(lost);
        waiters.wakeFirst();
        return told;
    }

    /** A Lock does not hold any more what is given away with its key. */
    void giveAway(LocalHold given) {
        keepNoMore(given.kept());
        // Also what is over by time: its release would end what is another's from now on.
        List<CompletableFuture<LossReason>> unused = holds.endAll(given.kept());
        waiters.wakeFirst();
    }

    /** What is used is kept no more, for others are to know its key; false if nothing is held. */
    boolean handOut(LocalHold used) {
        long now = System.nanoTime();
        keepNoMore(used.kept());
        holds.dropOverUnder(used.kept(), now);
        return used.isLive(now);
    }

    boolean isKept() {
        dropOver(System.nanoTime());
        return kept != null || leaving != null;
    }

    /** Whether the line is out of use, and used no more from now on. */
    boolean forget() {
        long now = System.nanoTime();
        dropOver(now);
        isForgotten = !isBusy && kept == null && holds.isEmpty() && waiters.isEmpty() && history.isForgettable(now);
        return isForgotten;
    }
}
