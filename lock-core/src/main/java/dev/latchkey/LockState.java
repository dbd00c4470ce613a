package dev.latchkey;

import dev.latchkey.Effect.Step;
import dev.latchkey.Hold.PendingRequest;
import dev.latchkey.spi.LeaseChange;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What one Lock believes: its key, and what it holds with it. Every method is one transition or one look; none does I/O,
 * waits, or runs foreign code. What a transition asks for, it returns as an {@link Effect}.
 *
 * <p>FREE: no hold. ADOPTED: made from a key, and the store not asked yet. Held: a {@link Hold} that is not over. A hold
 * that is over counts as none at once, and is turned into a {@link Effect.Loss} by the {@link #step} that finds it.
 */
final class LockState {

    private final LockSettings settings;
    private final LastLoss lastLoss;

    private volatile Key key;
    private volatile boolean adopted;
    private volatile @Nullable Hold hold;
    private @Nullable HoldTracker tracker;

    /** The hold that began when what was adopted was confirmed. */
    private @Nullable HoldTracker adoptedTracker;

    /** Counts what sets a deadline: two requests that crossed are recognised by it. */
    private long revision;

    private final Hold.Unanswered unanswered = new Hold.Unanswered();

    /** A request failed of which something may still come to the store. */
    private boolean inDoubt;

    /** The key is known to others than the store, who are the same owner. */
    private boolean copied;

    /** The key came from others, who are the same owner. */
    private boolean received;

    /** The end of a lease that was asked for longer than the Lock's own TTL; null if the last one was not. */
    private @Nullable Deadline extendedTo;

    LockState(Key key, boolean adopted, LockSettings settings) {
        this.key = key;
        this.adopted = adopted;
        this.received = adopted;
        this.settings = settings;
        this.lastLoss = new LastLoss(settings.lossListeners());
    }

    /**
     * Begins a request for a mode. One for a shared hold gives an exclusive one up at once, and for good unless nothing was
     * sent. If an earlier demotion was not answered, it repeats that, with the claim of the exclusive hold that was given up. A
     * received key that claims nothing has nothing to give up.
     */
    Step<PendingRequest> begin(LockMode wanted) {
        return step(() -> {
            PendingRequest pending = begun(settings.ttl());
            if (wanted == LockMode.EXCLUSIVE || !mayHold() || !pending.holds(LockMode.SHARED)) {
                return Step.of(pending);
            }
            PendingRequest demoting = unanswered.demotion(pending);
            unanswered.add(demoting);
            hold = hold == null ? null : hold.demoted();
            return Step.of(demoting);
        });
    }

    /**
     * Begins a refresh. One that ends the lease sooner sets it, and is believed at once, whatever comes of it; any other can
     * only extend it.
     */
    Step<PendingRequest> beginRefresh(Duration wanted) {
        return step(() -> {
            PendingRequest pending = begun(wanted);
            if (pending.isFresh()) {
                return Step.of(pending);
            }
            Deadline end = Deadline.ofLease(pending.ttl());
            boolean isOwn = wanted.equals(settings.ttl());
            boolean isSooner = isOwn
                    ? end.isWellBefore(extendedTo)
                    : adopted || end.isWellBefore(hold == null ? null : hold.deadline());
            if (isSooner) {
                extendedTo = isOwn ? null : end;
                return shorten(pending, end);
            }
            extendedTo = isOwn ? extendedTo : end;
            return Step.of(pending);
        });
    }

    private Step<PendingRequest> shorten(PendingRequest pending, Deadline end) {
        revision++;
        PendingRequest shortening = pending.endingBy(end, revision);
        unanswered.add(shortening);
        hold = hold == null ? null : hold.endingBy(end);
        return Step.of(shortening, tracker == null ? null : new Effect.SetAlarm(tracker));
    }

    Step<PendingRequest> begin() {
        return step(() -> Step.of(begun(settings.ttl())));
    }

    private PendingRequest begun(Duration wanted) {
        Duration ttl = settings.bounded(wanted, tracker);
        // What others may know the key of is theirs as well: it ends when it is released.
        Duration sticky = copied ? Duration.ZERO : settings.sticky();
        return new PendingRequest(heldKey(), tracker, adopted, revision, ttl, LeaseChange.EXTEND, null, false, sticky);
    }

    /** The request failed, and may still come to the store: what it gave up stays given up as long as the hold lasts. */
    synchronized void failed(PendingRequest pending) {
        inDoubt |= !pending.isFresh() && isCurrent(pending);
    }

    /** Nothing was sent: what a demotion was to give up is held still. */
    synchronized void undone(PendingRequest pending) {
        unanswered.answered(pending);
        boolean isUnchanged = isCurrent(pending) && pending.revision() == revision && !unanswered.mayDemote();
        if (pending.demotes() && isUnchanged && hold != null) {
            hold = hold.asBefore(pending);
        }
    }

    /** Whether anything is held, or may be. */
    boolean mayHold() {
        return hold != null || adopted;
    }

    /** Whether what is held, or may be, is enough for a mode. */
    synchronized boolean holds(LockMode wanted) {
        return mayHold() && !isOver(hold) && begun(settings.ttl()).holds(wanted);
    }

    /** Requests that may still shorten or demote what is held, whoever holds it then. */
    Hold.Unanswered unanswered() {
        return unanswered;
    }

    private Key heldKey() {
        Hold held = hold;
        return held == null ? key : key.claiming(Optional.of(held.claim()));
    }

    /** Takes over what the store granted; empty if what it was asked about has ended meanwhile. */
    Step<Optional<HoldTracker>> granted(PendingRequest pending, Hold granted) {
        return step(() -> pending.isFresh() || isCurrent(pending) ? take(pending, granted) : Step.of(Optional.empty()));
    }

    /**
     * Takes over what the store answered to a request that changes nothing but the end. What is held may have been promoted
     * meanwhile, or a demotion be on its way, so that the answer is no word on these; nor is it on a hold that was received as
     * shared, whose promotion by another may yet be undone.
     */
    Step<Optional<HoldTracker>> confirmed(PendingRequest pending, Hold answered) {
        return step(() -> {
            Hold before = hold;
            Hold confirmed = before == null ? pending.atMost(LockMode.SHARED, answered) : answered.as(before);
            return isCurrent(pending) ? take(pending, confirmed) : Step.of(Optional.empty());
        });
    }

    private Step<Optional<HoldTracker>> take(PendingRequest pending, Hold granted) {
        Hold before = hold;
        HoldTracker current = tracker == null ? new HoldTracker() : tracker;
        Hold bounded = settings.bounded(unanswered.isAny() ? unanswered.leave(granted) : granted, current);
        // Of two answers that crossed, either may be the last; and what has looked over is not held again.
        hold = before != null && (pending.revision() != revision || before.isOver())
                ? bounded.endingBy(before.deadline())
                : bounded;
        revision++;
        current.isHeldOn();
        adoptedTracker = pending.adopted() ? current : adoptedTracker;
        forgetAdopted();
        lastLoss.forget();
        tracker = current;
        return Step.of(Optional.of(current), new Effect.Watch(current, granted));
    }

    /** Whether the hold the request was about is still the one held, or still unknown. */
    synchronized boolean isCurrent(PendingRequest pending) {
        return pending.adopted()
                ? adopted || (tracker != null && tracker == adoptedTracker)
                : tracker != null && tracker == pending.tracker();
    }

    /** Whether the hold the request was about was promoted or demoted since, or is about to be demoted. */
    synchronized boolean isHeldOtherwise(PendingRequest pending) {
        return hold != null && isCurrent(pending) && pending.isInOtherModeThan(hold);
    }

    synchronized boolean isCurrent(HoldTracker tracked) {
        return tracker == tracked;
    }

    /**
     * Ends the hold the request was about, unless it had ended before, or what was adopted has been found held since; returns
     * why it is lost.
     */
    synchronized Step<LossReason> lose(PendingRequest pending, LossReason reason) {
        boolean isStillAsked = isCurrent(pending) && pending.adopted() == adopted;
        Effect.Loss noticed = isStillAsked ? null : endIfOver();
        Effect.Loss loss = isStillAsked ? lose(reason, Thread.currentThread()) : null;
        return new Step<>(lastLoss.reasonOf(pending).orElse(reason), noticed, loss);
    }

    /**
     * Ends the hold that was watched; without an effect if it had ended before.
     *
     * @param finder whose call of this Lock has found it; null if none has
     */
    synchronized Step<LossReason> lose(HoldTracker tracked, LossReason reason, @Nullable Thread finder) {
        return Step.of(reason, tracker == tracked ? lose(reason, finder) : null);
    }

    /** Ends what is over; returns whether anything is held. Where nothing is over, no guard is taken, for it costs. */
    Step<Boolean> look() {
        Hold held = hold;
        return isOver(held) ? step(() -> Step.of(hold != null)) : Step.of(held != null);
    }

    /** Ends the hold if its deadline is over, or its session may be. */
    private Effect.@Nullable Loss endIfOver() {
        Hold over = hold;
        if (over == null || !over.isOver()) {
            return null;
        }
        Key last = heldKey();
        boolean ofOthers = copied || received;
        Effect.Loss ended = lose(over.whyOver(), Thread.currentThread());
        lastLoss.leaves(last, ofOthers);
        return ended;
    }

    /** What was over here before is lost by that, whatever the store says of it now. */
    private Effect.Loss lose(LossReason found, @Nullable Thread finder) {
        HoldTracker ending = tracker;
        Hold over = hold;
        // Of several resources one may be lost: the others protect who works on them until the Lock is released.
        Key left = settings.mayLeaveParts() ? heldKey() : null;
        LossReason reason = ending != null && over != null && over.isOver() ? ending.lossBy(over.whyOver()) : found;
        Optional.ofNullable(ending).ifPresent(tracked -> tracked.endAsLost(reason));
        free(unanswered.isAny());
        return lastLoss.happens(reason, ending, finder, left);
    }

    /** Becomes FREE, and stops watching. */
    Step<Effect.ReleasedHold> letGo() {
        return step(() -> {
            Effect.ReleasedHold released = letGo(inDoubt || copied || unanswered.isAny());
            return Step.of(released, released);
        });
    }

    /** Gives the hold away with its key and becomes FREE with another; empty if nothing is held. */
    Step<Optional<Key>> transferKey() {
        return step(() -> {
            Effect.ReleasedHold released = hold == null ? null : letGo(true);
            return Step.of(Optional.ofNullable(released).map(Effect.ReleasedHold::key), released);
        });
    }

    private Effect.ReleasedHold letGo(boolean isTokenInUse) {
        Effect.ReleasedHold released = hold == null
                ? lastLoss.released(adopted ? key : null)
                : new Effect.ReleasedHold(heldKey(), hold, tracker, null, Effect.Notice.NOBODY);
        stopWatching();
        free(isTokenInUse);
        lastLoss.forget();
        return released;
    }

    /** After an outcome in doubt the old token is never used again. */
    synchronized void renewKey() {
        key = key.renewed();
        copied = false;
        received = false;
    }

    /** Whether others know the key of what is overdue: the hold may be theirs as well. */
    synchronized boolean isOverdueOfOthers() {
        return copied || received || lastLoss.isOverdueOfOthers();
    }

    LastLoss lastLoss() {
        return lastLoss;
    }

    /** Adds a listener; returns the reason of a loss that came before it. */
    Step<Optional<LossReason>> listen(Consumer<? super LossReason> listener) {
        return step(() -> Step.of(lastLoss.listen(listener), tracker == null ? null : new Effect.SetAlarm(tracker)));
    }

    /** The key, for somebody who may use it elsewhere. */
    synchronized Key copy() {
        copied = true;
        return key();
    }

    synchronized Key key() {
        return isOver(hold) ? key : heldKey();
    }

    String resource() {
        return key.resource();
    }

    /** What is held now and not over. */
    Optional<Hold> hold() {
        Hold current = hold;
        return isOver(current) ? Optional.empty() : Optional.ofNullable(current);
    }

    synchronized Optional<HoldTracker> tracker() {
        return Optional.ofNullable(tracker);
    }

    /** What tracks the hold a request was about; empty if that has ended. */
    synchronized Optional<HoldTracker> trackerOf(PendingRequest pending) {
        return Optional.ofNullable(tracker).filter(current -> isCurrent(pending));
    }

    synchronized @Nullable Deadline deadlineOf(HoldTracker tracked) {
        return tracker == tracked && hold != null ? hold.deadline() : null;
    }

    /**
     * Has the alarm of a hold set by its deadline, unless it has none or is over. Inside the guard, so that of two callers
     * the later sees the newer deadline; the tracker's own guard is never held while this one is waited for.
     */
    synchronized void setAlarm(HoldTracker tracked, Function<? super Deadline, ? extends Future<?>> alarmAt) {
        Deadline deadline = deadlineOf(tracked);
        tracked.rearm(() -> deadline == null ? null : alarmAt.apply(deadline));
    }

    /** Tells whether what was held is over, which the caller then knows. */
    synchronized boolean isExpired() {
        boolean isLost = lastLoss.reason().isPresent() || isOver(hold);
        if (isLost) {
            lastLoss.show();
        }
        return isLost || adopted;
    }

    /** Leaves the hold to itself: no alarm and no renewal any more. */
    synchronized void stopWatching() {
        if (tracker != null) {
            tracker.end();
        }
    }

    private static boolean isOver(@Nullable Hold hold) {
        return hold != null && hold.isOver();
    }

    /** Nothing is held any more. A token with which something may still come to the store is not used again. */
    private void free(boolean isTokenInUse) {
        forgetAdopted();
        hold = null;
        tracker = null;
        adoptedTracker = null;
        extendedTo = null;
        inDoubt = false;
        unanswered.forget();
        if (isTokenInUse) {
            renewKey();
        }
    }

    private void forgetAdopted() {
        if (adopted) {
            key = key.claiming(Optional.empty());
            adopted = false;
        }
    }

    /** Each transition begins here, the one place where it is noticed that a hold is over by time. */
    private synchronized <T extends @Nullable Object> Step<T> step(Supplier<Step<T>> transition) {
        Effect.Loss noticed = endIfOver();
        Step<T> step = transition.get();
        return noticed == null ? step : new Step<>(step.result(), noticed, step.effect());
    }
}
