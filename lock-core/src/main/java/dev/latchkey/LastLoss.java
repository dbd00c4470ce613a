package dev.latchkey;

import dev.latchkey.Effect.Loss;
import dev.latchkey.Effect.Notice;
import dev.latchkey.Effect.ReleasedHold;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The last hold of a Lock that was lost: why, who knows of it, and what it has left. */
final class LastLoss {

    private volatile List<Consumer<? super LossReason>> listeners;
    private volatile @Nullable LossReason reason;
    private @Nullable HoldTracker tracker;
    private volatile Notice notice = Notice.NOBODY;

    /** The worker, if a call of its own has found the loss, and that has not told it yet: nothing else tells this thread. */
    private @Nullable Thread untold;

    /** What the store may still keep, for it was not asked. */
    private volatile @Nullable Key overdue;

    /** Whether others knew the key of what is overdue when it was lost. */
    private boolean overdueOfOthers;

    /** Holds that were lost, whose workers may not have been interrupted yet: who found the loss may be late. */
    private List<HoldTracker> interrupting = List.of();

    LastLoss(List<Consumer<? super LossReason>> listeners) {
        this.listeners = listeners;
    }

    /**
     * A hold has ended. What is shown before it ends is not news afterwards.
     *
     * @param left the key of what the store keeps of it; null if it keeps nothing, as far as it was asked
     */
    synchronized Loss happens(LossReason why, @Nullable HoldTracker lost, @Nullable Thread finder, @Nullable Key left) {
        reason = why;
        tracker = lost;
        untold = null;
        boolean isHeardOf = !listeners.isEmpty();
        if (lost != null && lost.interruptsOnLoss()) {
            boolean isInterrupted = lost.tellsByInterrupt(finder);
            untold = isInterrupted ? null : finder;
            isHeardOf |= isInterrupted;
            // Not one whose own call tells it: that is not to be interrupted, whoever does so.
            interrupting = Stream.concat(
                            interrupting.stream().filter(HoldTracker::mayInterrupt),
                            Stream.of(lost).filter(one -> isInterrupted))
                    .toList();
        }
        notice = isHeardOf ? Notice.SHOWN : notice;
        overdue = left;
        overdueOfOthers = false;
        return new Loss(why, lost, listeners, finder);
    }

    /** The store was not asked, and may still keep the hold. */
    synchronized void leaves(Key key, boolean ofOthers) {
        overdue = key;
        overdueOfOthers = ofOthers;
    }

    /** In a cycle without a loss nothing volatile is written, and no guard taken, for each costs. */
    void forget() {
        if (reason != null || overdue != null || notice != Notice.NOBODY) {
            forgetNow();
        }
    }

    private synchronized void forgetNow() {
        reason = null;
        overdue = null;
        tracker = null;
        notice = Notice.NOBODY;
        untold = null;
    }

    /** What a release gives up where nothing is held any more. */
    synchronized ReleasedHold released(@Nullable Key adopted) {
        return new ReleasedHold(adopted == null ? overdue : adopted, null, tracker, reason, notice);
    }

    Optional<LossReason> reason() {
        return Optional.ofNullable(reason);
    }

    /** Whether the store may still keep what is over here. */
    boolean isOverdue() {
        return overdue != null;
    }

    /** Returns the key of what is overdue, once. */
    synchronized Optional<Key> takeOverdue() {
        Optional<Key> taken = Optional.ofNullable(overdue);
        overdue = null;
        return taken;
    }

    synchronized boolean isOverdueOfOthers() {
        return overdueOfOthers;
    }

    /** Why what the request is about is lost, as it was first found out; empty if it is not. */
    synchronized Optional<LossReason> reasonOf(Hold.PendingRequest pending) {
        return isOf(pending) ? reason() : Optional.ofNullable(pending.tracker()).map(HoldTracker::loss);
    }

    private boolean isOf(Hold.PendingRequest pending) {
        return reason != null && (pending.tracker() == null || pending.tracker() == tracker);
    }

    /**
     * The call that made this request fails because what the request is about is lost; returns why, as {@link #reasonOf}. What
     * was held after it is not told of by that.
     */
    synchronized Optional<LossReason> thrown(Hold.PendingRequest pending) {
        if (isOf(pending)) {
            notice = Notice.THROWN;
            knows();
        }
        return reasonOf(pending);
    }

    /** A loss that nobody was told of is told before anything is taken in its place. */
    void check(String resource) {
        tell().ifPresent(why -> {
            throw new LockLostException(resource, "it was lost before it was acquired again", why);
        });
    }

    /** The reason of a loss that nobody was told of, or not the thread that asks, once. */
    Optional<LossReason> tell() {
        return reason == null ? Optional.empty() : tellOnce();
    }

    private synchronized Optional<LossReason> tellOnce() {
        boolean isNews = notice == Notice.NOBODY || untold == Thread.currentThread();
        if (reason == null || !isNews) {
            return Optional.empty();
        }
        knows();
        notice = Notice.THROWN;
        return reason();
    }

    /** The caller sees that nothing is held any more. */
    synchronized void show() {
        notice = notice == Notice.NOBODY ? Notice.SHOWN : notice;
        knows();
    }

    /** What this thread is told now it need not be told again. */
    private void knows() {
        untold = untold == Thread.currentThread() ? null : untold;
    }

    /** Adds a listener; returns the reason of a loss that came before it. */
    synchronized Optional<LossReason> listen(Consumer<? super LossReason> listener) {
        listeners = Stream.concat(listeners.stream(), Stream.of(listener)).toList();
        if (reason != null) {
            show();
        }
        return reason();
    }

    List<Consumer<? super LossReason>> listeners() {
        return listeners;
    }

    /** Returns the holds that were lost, and have been followed by an interrupt, or will be; once. */
    synchronized List<HoldTracker> takeInterrupting() {
        List<HoldTracker> taken = interrupting;
        interrupting = List.of();
        return taken;
    }
}
