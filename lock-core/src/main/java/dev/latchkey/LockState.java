package dev.latchkey;

import dev.latchkey.spi.LeaseChange;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What one Lock believes: its key, and what it holds with it. Every method is one transition or one look; none does I/O,
 * waits, or runs foreign code.
 *
 * <p>FREE: no hold. ADOPTED: made from a key, and the store not asked yet. Held: a {@link Hold} that is not over. A hold
 * that is over counts as none at once, and is turned into a {@link Loss} by {@link #endIfOver()}.
 */
final class LockState {

    /** How a renewal went. */
    enum Renewed {
        DONE,
        FAILED
    }

    private final ReentrantLock guard = new ReentrantLock();
    private volatile List<Consumer<? super LossReason>> listeners;

    private volatile Key key;
    private volatile boolean adopted;
    private volatile @Nullable Hold hold;
    private @Nullable HoldTracker watch;

    /** The hold that began when what was adopted was confirmed. */
    private @Nullable HoldTracker adoptedWatch;

    private volatile @Nullable LossReason loss;
    private @Nullable HoldTracker lostWatch;

    /** Holds that were lost, whose workers may not have been interrupted yet: who found the loss may be late. */
    private List<HoldTracker> interrupting = List.of();

    private LossNotice told = LossNotice.NOBODY;
    private volatile @Nullable Key overdue;

    /** Whether others know the key of what is overdue. */
    private boolean overdueOfOthers;

    private boolean renewalFails;
    private boolean renewalUnanswered;

    /** Counts what sets a deadline: two requests that crossed are recognised by it. */
    private long revision;

    /** Requests that give something up, and were not answered: they may still come to the store, or be in flight. */
    private volatile List<Claim> givenUp = List.of();

    /** A request failed of which something may still come to the store. */
    private boolean inDoubt;

    /** The key is known to others than the store, who are the same owner. */
    private boolean copied;

    /** The key came from others, who are the same owner. */
    private boolean received;

    /** The end of a lease that was asked for longer than the Lock's own TTL; null if the last one was not. */
    private @Nullable Deadline extendedTo;

    LockState(Key key, boolean adopted, List<Consumer<? super LossReason>> listeners) {
        this.key = key;
        this.adopted = adopted;
        this.received = adopted;
        this.listeners = listeners;
    }

    /**
     * Begins a request for a mode. One for a shared hold gives an exclusive one up at once, whatever comes of it, and demotes
     * what the store has when it comes there: also a hold that is shared now, and was promoted before.
     */
    Claim claim(LockMode wanted) {
        return guarded(() -> {
            if (wanted == LockMode.EXCLUSIVE || !mayHold()) {
                return claimHeld();
            }
            Claim claim = new Claim(heldKey(), watch, adopted, revision, LeaseChange.EXTEND, null, true);
            givesUp(claim);
            hold = hold == null ? null : hold.demoted();
            return claim;
        });
    }

    /**
     * Begins a refresh. One that ends the lease sooner sets it, and is believed at once, whatever comes of it; any other can
     * only extend it.
     */
    Claim claimToRefresh(Duration wanted, LockSettings settings) {
        return guarded(() -> {
            Deadline end = Deadline.ofLease(settings.bounded(wanted, watch));
            boolean isOwn = wanted.equals(settings.ttl());
            if (!(isOwn
                    ? endsSooner(end, extendedTo)
                    : adopted || endsSooner(end, hold == null ? null : hold.deadline()))) {
                extendedTo = isOwn ? extendedTo : end;
                return claimHeld();
            }
            revision++;
            extendedTo = isOwn ? null : end;
            Claim claim = new Claim(heldKey(), watch, adopted, revision, LeaseChange.SET, end, false);
            if (!claim.isFresh()) {
                givesUp(claim);
                hold = hold == null ? null : hold.endingBy(end);
            }
            return claim;
        });
    }

    private static boolean endsSooner(Deadline end, @Nullable Deadline than) {
        return than != null && than.nanoTime() - end.nanoTime() > Durations.SHORTEST_TTL.toNanos();
    }

    Claim claim() {
        return guarded(this::claimHeld);
    }

    private Claim claimHeld() {
        return new Claim(heldKey(), watch, adopted, revision, LeaseChange.EXTEND, null, false);
    }

    private void givesUp(Claim claim) {
        List<Claim> more = new ArrayList<>(givenUp);
        more.add(claim);
        givenUp = List.copyOf(more);
    }

    /** The store has answered, or nothing was sent: what the request gave up can be had again. */
    void answered(Claim claim) {
        if (claim.givesUp()) {
            guarded(() -> {
                List<Claim> rest = new ArrayList<>(givenUp);
                rest.remove(claim);
                givenUp = List.copyOf(rest);
                return rest;
            });
        }
    }

    /** The request failed, and may still come to the store: what it gave up stays given up as long as the hold lasts. */
    void failed(Claim claim) {
        guarded(() -> inDoubt |= !claim.isFresh() && isCurrent(claim));
    }

    /** Whether anything is held, or may be. */
    boolean mayHold() {
        return hold != null || adopted;
    }

    /** Whether what is held, or may be, is enough for a mode. */
    boolean holds(LockMode wanted) {
        if (!mayHold()) {
            return false;
        }
        return guarded(() -> {
            Optional<Key.Held> held = heldKey().held();
            return !isOver(hold)
                    && held.isPresent()
                    && (wanted == LockMode.SHARED || held.get().mode() == LockMode.EXCLUSIVE);
        });
    }

    /** Whether a demotion was not answered: no exclusive hold is safe from it. */
    boolean mayBeDemoted() {
        List<Claim> open = givenUp;
        return !open.isEmpty() && open.stream().anyMatch(Claim::demotes);
    }

    /** What requests without an answer leave of a hold. */
    private Hold lessGivenUp(Hold answered) {
        Hold left = answered;
        for (Claim claim : givenUp) {
            left = left.endingBy(claim.latestEnd());
            left = claim.demotes() ? left.demoted() : left;
        }
        return left;
    }

    private Key heldKey() {
        Hold held = hold;
        return held == null ? key : key.holding(Optional.of(held.claim()));
    }

    /** Takes over what the store granted; returns the watch of the hold, a new one if none was held. */
    HoldTracker granted(Claim claim, Hold granted, LockSettings settings) {
        return guarded(() -> {
            Hold before = hold;
            boolean crossed = claim.revision() != revision;
            HoldTracker current = watch == null ? new HoldTracker() : watch;
            Hold sure = givenUp.isEmpty() ? granted : lessGivenUp(granted);
            Hold bounded = settings.hasMaxHold()
                    ? sure.endingAt(current.endAfter(settings.maxHold().toNanos()))
                    : sure;
            // What has looked over is not held again.
            hold = before != null && (crossed || before.isOver()) ? bounded.endingBy(before.deadline()) : bounded;
            revision++;
            adoptedWatch = claim.adopted() ? current : adoptedWatch;
            forgetClaimAndLoss();
            watch = current;
            return current;
        });
    }

    /**
     * Takes over what the store answered to a request that changes nothing but the end; as {@link #granted} otherwise. What is
     * held may have been promoted meanwhile, or a demotion be on its way, so that the answer is no word on these. Empty if it
     * has ended meanwhile.
     */
    Optional<HoldTracker> confirmed(Claim claim, Hold answered, LockSettings settings) {
        return guarded(() -> {
            if (!isCurrent(claim)) {
                return Optional.empty();
            }
            Hold before = hold;
            return Optional.of(granted(claim, before == null ? answered : answered.as(before), settings));
        });
    }

    /** Whether the hold the claim was about is still the one held, or still unknown. */
    boolean isCurrent(Claim claim) {
        return guarded(() -> claim.adopted()
                ? adopted || (watch != null && watch == adoptedWatch)
                : watch != null && watch == claim.watch());
    }

    /** Whether the hold the claim was about was promoted or demoted since, or is about to be demoted. */
    boolean isHeldOtherwise(Claim claim) {
        return guarded(() -> {
            Hold held = hold;
            return held != null
                    && isCurrent(claim)
                    && claim.key()
                            .held()
                            .filter(claimed -> claimed.mode() != held.mode())
                            .isPresent();
        });
    }

    boolean isCurrent(HoldTracker watched) {
        return guarded(() -> watch == watched);
    }

    /** Ends the hold the claim was about; empty if it had ended before, or what was adopted has been found held since. */
    Optional<Loss> lose(Claim claim, LossReason reason) {
        return guarded(
                () -> isCurrent(claim) && claim.adopted() == adopted ? Optional.of(loseAs(reason)) : Optional.empty());
    }

    /** Ends the hold that was watched; empty if it had ended before. */
    Optional<Loss> lose(HoldTracker watched, LossReason reason) {
        return guarded(() -> watch == watched ? Optional.of(loseAs(reason)) : Optional.empty());
    }

    /** Ends the hold if its deadline is over, or its session may be. The store was not asked: it may still keep it. */
    Optional<Loss> endIfOver() {
        if (!isOver(hold)) {
            return Optional.empty();
        }
        return guarded(() -> {
            if (!isOver(hold)) {
                return Optional.empty();
            }
            Key last = heldKey();
            boolean ofOthers = copied || received;
            Loss ended = lose(whyOver());
            overdue = last;
            overdueOfOthers = ofOthers;
            return Optional.of(ended);
        });
    }

    private LossReason whyOver() {
        Hold over = hold;
        LossReason why = over == null ? LossReason.EXPIRED : over.whyOver();
        return why == LossReason.EXPIRED && (renewalFails || renewalUnanswered) ? LossReason.STORE_UNREACHABLE : why;
    }

    /** What was over here before was lost by that, whatever the store says of it now. */
    private Loss loseAs(LossReason reason) {
        return lose(isOver(hold) ? whyOver() : reason);
    }

    private Loss lose(LossReason reason) {
        HoldTracker ending = watch;
        boolean isHeardOf = !listeners.isEmpty();
        if (ending != null) {
            ending.endAsLost(reason);
            if (ending.interruptsOnLoss()) {
                isHeardOf = true;
                interrupting = Stream.concat(interrupting.stream().filter(HoldTracker::mayInterrupt), Stream.of(ending))
                        .toList();
            }
        }
        Loss ended = new Loss(reason, ending, listeners);
        LossNotice shown = isHeardOf ? LossNotice.SHOWN : told;
        boolean mayBeCut = !givenUp.isEmpty();
        free();
        if (mayBeCut) {
            renewToken();
        }
        loss = reason;
        lostWatch = ending;
        told = shown;
        return ended;
    }

    /** Becomes FREE, and stops watching. */
    ReleasedHold letGo() {
        return guarded(() -> {
            Key last = hold != null || adopted ? heldKey() : overdue;
            ReleasedHold released = new ReleasedHold(last, hold, watch == null ? lostWatch : watch, loss, told);
            stopWatching();
            boolean known = inDoubt || copied || !givenUp.isEmpty();
            free();
            if (known) {
                renewToken();
            }
            return released;
        });
    }

    /** Returns the holds that were lost, and have been followed by an interrupt, or will be; once. */
    List<HoldTracker> takeInterrupting() {
        return guarded(() -> {
            List<HoldTracker> taken = interrupting;
            interrupting = List.of();
            return taken;
        });
    }

    /** Whether a request was not answered that may still shorten or demote what is held, whoever holds it then. */
    boolean mayBeCut() {
        return guarded(() -> !givenUp.isEmpty());
    }

    /** Gives the hold away with its key and becomes FREE with another; empty if nothing is held. */
    Optional<ReleasedHold> transferKey() {
        return guarded(() -> {
            if (hold == null || isOver(hold)) {
                return Optional.empty();
            }
            ReleasedHold released = new ReleasedHold(heldKey(), hold, watch, null, LossNotice.NOBODY);
            stopWatching();
            free();
            renewToken();
            return Optional.of(released);
        });
    }

    /** After an outcome in doubt the old token is never used again. */
    void renewKey() {
        guarded(() -> {
            renewToken();
            return key;
        });
    }

    private void renewToken() {
        key = key.renewed();
        copied = false;
        received = false;
    }

    /** Notes that a renewal is due, and that the store has not answered it yet. */
    void renewalBegins() {
        guarded(() -> renewalUnanswered = true);
    }

    /** Notes how the last renewal went; true if the one before it went the other way. */
    boolean changesTo(Renewed outcome) {
        return guarded(() -> {
            boolean fails = outcome == Renewed.FAILED;
            boolean changed = renewalFails != fails;
            renewalFails = fails;
            renewalUnanswered = false;
            return changed;
        });
    }

    /** Returns the key of a hold that ended by its deadline, once: the store was not told of that. */
    Optional<Key> takeOverdue() {
        return guarded(() -> {
            Optional<Key> taken = Optional.ofNullable(overdue);
            overdue = null;
            return taken;
        });
    }

    /** As {@link #takeOverdue()}, unless others know the key: the hold may be theirs as well. */
    Optional<Key> takeOverdueOfOurs() {
        return guarded(() -> overdueOfOthers || copied || received ? Optional.empty() : takeOverdue());
    }

    /** Adds a listener; returns the reason of a loss that came before it. */
    Optional<LossReason> listen(Consumer<? super LossReason> listener) {
        return guarded(() -> {
            List<Consumer<? super LossReason>> more = new ArrayList<>(listeners);
            more.add(listener);
            listeners = List.copyOf(more);
            if (loss != null) {
                show();
            }
            return Optional.ofNullable(loss);
        });
    }

    List<Consumer<? super LossReason>> listeners() {
        return listeners;
    }

    /** Why the last hold was lost, if it was. */
    Optional<LossReason> loss() {
        return guarded(() -> Optional.ofNullable(loss));
    }

    /**
     * The call that made this claim fails because what the claim is about is lost; returns why, as {@link #whyLost}. What was
     * held after it is not told of by that.
     */
    Optional<LossReason> thrown(Claim claim) {
        return guarded(() -> {
            told = isLastLost(claim) ? LossNotice.THROWN : told;
            return whyLost(claim);
        });
    }

    /** Why what the claim is about is lost, as it was first found out; empty if it is not. */
    Optional<LossReason> whyLost(Claim claim) {
        return guarded(() -> isLastLost(claim)
                ? Optional.ofNullable(loss)
                : Optional.ofNullable(claim.watch()).map(HoldTracker::loss));
    }

    private boolean isLastLost(Claim claim) {
        return loss != null && watch == null && (claim.watch() == null || claim.watch() == lostWatch);
    }

    /** The reason of a loss that nobody was told of, once. */
    Optional<LossReason> tellLoss() {
        if (loss == null) {
            return Optional.empty();
        }
        return guarded(() -> {
            boolean isNews = loss != null && told == LossNotice.NOBODY;
            told = isNews ? LossNotice.THROWN : told;
            return isNews ? Optional.ofNullable(loss) : Optional.empty();
        });
    }

    /** The caller sees that nothing is held any more. */
    void show() {
        guarded(() -> told = told == LossNotice.NOBODY ? LossNotice.SHOWN : told);
    }

    /** The key, for somebody who may use it elsewhere. */
    Key copy() {
        return guarded(() -> {
            copied = true;
            return isOver(hold) ? key : heldKey();
        });
    }

    Key key() {
        return guarded(() -> isOver(hold) ? key : heldKey());
    }

    String resource() {
        return key.resource();
    }

    /** What is held now and not over. */
    Optional<Hold> hold() {
        Hold current = hold;
        return current == null || current.isOver() ? Optional.empty() : Optional.of(current);
    }

    Optional<HoldTracker> watch() {
        return guarded(() -> Optional.ofNullable(watch));
    }

    @Nullable Deadline deadlineOf(HoldTracker watched) {
        return guarded(() -> watch == watched && hold != null ? hold.deadline() : null);
    }

    /**
     * Has the alarm of a hold set by its deadline, unless it has none or is over. Inside the guard, so that of two callers
     * the later sees the newer deadline; the watch's own monitor is never held while this guard is waited for.
     */
    void setAlarm(HoldTracker watched, Function<? super Deadline, ? extends Future<?>> alarmAt) {
        guarded(() -> {
            Deadline deadline = deadlineOf(watched);
            watched.rearm(() -> deadline == null ? null : alarmAt.apply(deadline));
            return Optional.empty();
        });
    }

    /** Tells whether what was held is over, which the caller then knows. */
    boolean isExpired() {
        return guarded(() -> {
            boolean isLost = loss != null || isOver(hold);
            told = isLost && told == LossNotice.NOBODY ? LossNotice.SHOWN : told;
            return isLost || adopted;
        });
    }

    boolean isOverdue() {
        return overdue != null;
    }

    /** Leaves the hold to itself: no alarm and no renewal any more. */
    void stopWatching() {
        guarded(() -> {
            if (watch != null) {
                watch.end();
            }
            return Optional.empty();
        });
    }

    private static boolean isOver(@Nullable Hold hold) {
        return hold != null && hold.isOver();
    }

    /** In a cycle without a loss nothing volatile is written but the hold, for each such write costs. */
    private void free() {
        forgetClaimAndLoss();
        hold = null;
        watch = null;
        adoptedWatch = null;
        extendedTo = null;
        inDoubt = false;
        if (!givenUp.isEmpty()) {
            givenUp = List.of();
        }
    }

    private void forgetClaimAndLoss() {
        if (adopted) {
            key = key.holding(Optional.empty());
            adopted = false;
        }
        if (loss != null) {
            loss = null;
        }
        if (overdue != null) {
            overdue = null;
        }
        lostWatch = null;
        told = LossNotice.NOBODY;
        renewalFails = false;
        renewalUnanswered = false;
    }

    private <T extends @Nullable Object> T guarded(Supplier<T> transition) {
        guard.lock();
        try {
            return transition.get();
        } finally {
            guard.unlock();
        }
    }
}
