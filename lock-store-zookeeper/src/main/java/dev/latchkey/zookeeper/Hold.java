package dev.latchkey.zookeeper;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Response;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The hold of one key: the node in the queue that carries it, and the nodes that were added since. Thread-safe. */
final class Hold {

    private final Key key;
    private final QueueNode place;
    private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
    private final Lease lease;

    /** Held while a request that does not wait changes the mode. */
    private final ReentrantLock change = new ReentrantLock();

    /** Several if several callers with its key wait to promote it. */
    private final Set<Waiter> promoters = new HashSet<>();

    private LockMode mode;
    private OptionalLong token;
    private @Nullable QueueNode promotion;
    private int promotions;
    private boolean inDoubt;
    private boolean ended;

    /** Why it has ended, until the holder is told. */
    private @Nullable LossReason untold;

    Hold(Key key, QueueNode place, LockMode mode, OptionalLong token) {
        this.key = key;
        this.place = place;
        this.lease =
                Lease.session(lost.minimalCompletionStage(), place.session().mayLive());
        this.mode = mode;
        this.token = token;
    }

    Key key() {
        return key;
    }

    QueueNode place() {
        return place;
    }

    ReentrantLock change() {
        return change;
    }

    synchronized LockMode mode() {
        return mode;
    }

    synchronized OptionalLong token() {
        return token;
    }

    synchronized boolean isLive() {
        return !ended;
    }

    /** Returns whether its session cannot have ended since the grant, by the clock. */
    boolean mayLive() {
        return lease.isLive().getAsBoolean();
    }

    /** Returns whether a claim is true. That of an exclusive hold that was demoted, or released and acquired again, is not. */
    synchronized boolean isAsClaimed(Key.Held claimed) {
        return claimed.mode() == LockMode.SHARED
                || (mode == LockMode.EXCLUSIVE && token.equals(claimed.fencingToken()));
    }

    synchronized Response.Granted answer() {
        return new Response.Granted(mode, token, lease);
    }

    /** Returns a new id for another node of this hold. */
    synchronized String nextPromotionId() {
        return place.id() + '.' + Integer.toString(promotions++, Character.MAX_RADIX);
    }

    /** Registers a waiter that promotes it, which is told when the hold ends; returns false if it has ended. */
    synchronized boolean beginPromotion(Waiter waiter) {
        promoters.add(waiter);
        return !ended;
    }

    synchronized void endPromotion(Waiter waiter) {
        promoters.remove(waiter);
    }

    /** Returns false if it has ended, or was promoted before. */
    synchronized boolean promoted(QueueNode second) {
        if (ended || mode == LockMode.EXCLUSIVE) {
            return false;
        }
        promotion = second;
        mode = LockMode.EXCLUSIVE;
        token = OptionalLong.of(second.zxid());
        return true;
    }

    synchronized @Nullable QueueNode promotion() {
        return promotion;
    }

    synchronized void demoted() {
        promotion = null;
        mode = LockMode.SHARED;
        token = OptionalLong.empty();
    }

    /** The servers may have nodes of it that it does not know of. */
    synchronized void putInDoubt() {
        inDoubt = true;
    }

    synchronized boolean isInDoubt() {
        return inDoubt || place.isInDoubt();
    }

    /** Returns the paths of all its nodes. */
    synchronized List<String> paths() {
        List<String> paths = new ArrayList<>(3);
        if (promotion != null) {
            paths.add(promotion.path());
        }
        if (place.isDemoted()) {
            paths.add(place.demotionMark());
        }
        paths.add(place.path());
        return paths;
    }

    /** Returns what its followers are told when it is released. */
    synchronized WaitSignal farewell() {
        return mode == LockMode.EXCLUSIVE && token.isPresent()
                ? new WaitSignal.Next(token.getAsLong())
                : WaitSignal.LOOK;
    }

    /** Ends it; returns false if it has ended before. */
    synchronized boolean end() {
        if (ended) {
            return false;
        }
        ended = true;
        promoters.forEach(Waiter::look);
        return true;
    }

    /** Ends it. The holder is then told by {@link #tellOfLoss}. */
    synchronized void endAsLost(LossReason reason) {
        if (end()) {
            untold = reason;
        }
    }

    /** Tells the holder of a loss; returns false if there is none, or if another thread tells. */
    boolean tellOfLoss() {
        LossReason reason = takeUntold();
        if (reason == null) {
            return false;
        }
        endPlaces(WaitSignal.LOOK);
        lost.complete(reason);
        return true;
    }

    private synchronized @Nullable LossReason takeUntold() {
        LossReason reason = untold;
        untold = null;
        return reason;
    }

    /** Ends it and tells the holder; returns false if that was done before. */
    boolean lose(LossReason reason) {
        endAsLost(reason);
        return tellOfLoss();
    }

    void whenLost(Runnable action) {
        CompletableFuture<Void> unused = lost.thenRun(action);
    }

    /** Its nodes are being removed, or no longer count. */
    void endPlaces(WaitSignal toFollowers) {
        QueueNode second = promotion();
        if (second != null) {
            second.ended(WaitSignal.LOOK);
        }
        place.ended(toFollowers);
    }

    /** The servers have removed its nodes. */
    void gonePlaces() {
        QueueNode second = promotion();
        if (second != null) {
            second.gone();
        }
        place.gone();
    }
}
