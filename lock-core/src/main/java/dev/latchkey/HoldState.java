package dev.latchkey;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What one Lock believes: its key, and what it holds with it. Every method is one transition or one look; none does I/O,
 * waits, or runs foreign code.
 *
 * <p>FREE: no hold. ADOPTED: made from a key, and the store not asked yet. Held: a {@link Hold} that is not over. A hold
 * that is over counts as none at once, and is turned into a {@link Loss} by {@link #endIfOver()}.
 */
final class HoldState {

    /** How a renewal went. */
    enum Renewed {
        DONE,
        FAILED
    }

    private final ReentrantLock guard = new ReentrantLock();
    private volatile List<Consumer<? super LossReason>> listeners;

    private volatile Key key;
    private boolean adopted;
    private volatile @Nullable Hold hold;
    private @Nullable Watch watch;

    private @Nullable LossReason loss;
    private boolean lossThrown;
    private @Nullable Key overdue;
    private boolean renewalFails;
    private boolean renewalUnanswered;

    /** Counts the answers that set a deadline: two requests that crossed are recognised by it. */
    private long revision;

    HoldState(Key key, boolean adopted, List<Consumer<? super LossReason>> listeners) {
        this.key = key;
        this.adopted = adopted;
        this.listeners = listeners;
    }

    /**
     * Begins a request, and believes from now on no more than any outcome of it leaves: what is sent may end the lease
     * sooner, and a demotion gives the exclusive hold up.
     */
    Claim claim(LockMode wanted, Duration ttl) {
        return guarded(() -> {
            Claim claim = claimHeld();
            Hold before = hold;
            if (before != null && !(before.mode() == LockMode.SHARED && wanted == LockMode.EXCLUSIVE)) {
                Hold lowered = before.endingBy(Deadline.ofLease(ttl));
                hold = wanted == LockMode.SHARED ? lowered.demoted() : lowered;
            }
            return claim;
        });
    }

    /** As {@link #claim(LockMode, Duration)} for the mode that is held. */
    Claim claimToRefresh(Duration ttl) {
        return guarded(() -> {
            Claim claim = claimHeld();
            Hold before = hold;
            if (before != null) {
                hold = before.endingBy(Deadline.ofLease(ttl));
            }
            return claim;
        });
    }

    Claim claim() {
        return guarded(this::claimHeld);
    }

    private Claim claimHeld() {
        return new Claim(heldKey(), watch, adopted, revision);
    }

    private Key heldKey() {
        Hold held = hold;
        return held == null ? key : key.holding(Optional.of(held.claim()));
    }

    /** Takes over what the store granted; returns the watch of the hold, a new one if none was held. */
    Watch granted(Claim claim, Hold granted, LockSettings settings) {
        return guarded(() -> {
            Hold before = hold;
            boolean crossed = claim.revision() != revision;
            Watch current = watch == null ? new Watch() : watch;
            Hold bounded = settings.hasMaxHold()
                    ? granted.endingAt(current.endAfter(settings.maxHold().toNanos()))
                    : granted;
            // What has looked over is not held again.
            hold = before != null && (crossed || before.isOver()) ? bounded.endingBy(before.deadline()) : bounded;
            revision++;
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
    Optional<Watch> confirmed(Claim claim, Hold answered, LockSettings settings) {
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
        return guarded(() -> claim.adopted() ? adopted : watch != null && watch == claim.watch());
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

    boolean isCurrent(Watch watched) {
        return guarded(() -> watch == watched);
    }

    /** Ends the hold the claim was about; empty if it had ended before. */
    Optional<Loss> lose(Claim claim, LossReason reason) {
        return guarded(() -> isCurrent(claim) ? Optional.of(lose(reason)) : Optional.empty());
    }

    /** Ends the hold that was watched; empty if it had ended before. */
    Optional<Loss> lose(Watch watched, LossReason reason) {
        return guarded(() -> watch == watched ? Optional.of(lose(reason)) : Optional.empty());
    }

    /** Ends the hold if its deadline is over. The store was not asked: it may still keep it. */
    Optional<Loss> endIfOver() {
        if (!isOver(hold)) {
            return Optional.empty();
        }
        return guarded(() -> {
            if (!isOver(hold)) {
                return Optional.empty();
            }
            Key last = heldKey();
            boolean unreachable = renewalFails || renewalUnanswered;
            Loss ended = lose(unreachable ? LossReason.STORE_UNREACHABLE : LossReason.EXPIRED);
            overdue = last;
            return Optional.of(ended);
        });
    }

    /** Inside the guard, so that a release that comes after it cannot return before its thread was interrupted. */
    private Loss lose(LossReason reason) {
        Watch ending = watch;
        if (ending != null) {
            ending.endAsLost();
        }
        Loss ended = new Loss(reason, ending, listeners);
        free();
        loss = reason;
        return ended;
    }

    /** Becomes FREE, and stops watching. */
    Given letGo() {
        return guarded(() -> {
            Key last = hold != null || adopted ? heldKey() : overdue;
            Given given = new Given(last, hold, watch, loss, lossThrown);
            stopWatching();
            free();
            return given;
        });
    }

    /** Gives the hold away with its key and becomes FREE with another; empty if nothing is held. */
    Optional<Key> handOver() {
        return guarded(() -> {
            if (hold == null || isOver(hold)) {
                return Optional.empty();
            }
            Key given = heldKey();
            stopWatching();
            free();
            key = key.renewed();
            return Optional.of(given);
        });
    }

    /** After an outcome in doubt the old token is never used again. */
    void renewKey() {
        guarded(() -> key = key.renewed());
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

    /** Adds a listener; returns the reason of a loss that came before it. */
    Optional<LossReason> listen(Consumer<? super LossReason> listener) {
        return guarded(() -> {
            List<Consumer<? super LossReason>> more = new ArrayList<>(listeners);
            more.add(listener);
            listeners = List.copyOf(more);
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

    void setLossThrown() {
        guarded(() -> lossThrown = true);
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

    Optional<Watch> watch() {
        return guarded(() -> Optional.ofNullable(watch));
    }

    @Nullable Deadline deadlineOf(Watch watched) {
        return guarded(() -> watch == watched && hold != null ? hold.deadline() : null);
    }

    /**
     * Has the alarm of a hold set by its deadline, unless it has none or is over. Inside the guard, so that of two callers
     * the later sees the newer deadline; the watch's own monitor is never held while this guard is waited for.
     */
    void setAlarm(Watch watched, Function<? super Deadline, ? extends Future<?>> alarmAt) {
        guarded(() -> {
            Deadline deadline = deadlineOf(watched);
            watched.rearm(() -> deadline == null ? null : alarmAt.apply(deadline));
            return Optional.empty();
        });
    }

    boolean isExpired() {
        return guarded(() -> adopted || loss != null || isOver(hold));
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

    private void free() {
        forgetClaimAndLoss();
        hold = null;
        watch = null;
    }

    private void forgetClaimAndLoss() {
        if (adopted) {
            key = key.holding(Optional.empty());
            adopted = false;
        }
        loss = null;
        lossThrown = false;
        overdue = null;
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
