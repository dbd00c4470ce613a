package dev.latchkey.zookeeper;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Response;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** One key's hold: the node in line that carries it, and what was added to that since. Thread-safe. */
final class Hold {

    private final Key key;
    private final QueueNode place;
    private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
    private final Lease lease;

    /** Held while the mode is changed by a request that is answered at once; never while waiting. */
    private final ReentrantLock change = new ReentrantLock();

    private LockMode mode;
    private OptionalLong token;
    private @Nullable QueueNode promotion;
    private @Nullable Waiter promoter;
    private int promotions;
    private boolean inDoubt;
    private boolean ended;

    /** Why it has ended, if the holder is still to be told of that. */
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

    /** Whether its session has not been over since it was granted, by the clock. */
    boolean mayLive() {
        return lease.isLive().getAsBoolean();
    }

    /** A claim of an exclusive hold that was demoted, or released and taken anew, is not true of this one. */
    synchronized boolean isAsClaimed(Key.Held claimed) {
        return claimed.mode() == LockMode.SHARED
                || (mode == LockMode.EXCLUSIVE && token.equals(claimed.fencingToken()));
    }

    synchronized Response.Granted answer() {
        return new Response.Granted(mode, token, lease);
    }

    /** A new id for another node of this hold. */
    synchronized String nextPromotionId() {
        return place.id() + '.' + Integer.toString(promotions++, Character.MAX_RADIX);
    }

    /** Somebody waits to promote it, to be told when it ends; false if it has ended. */
    synchronized boolean beginPromotion(Waiter waiter) {
        promoter = waiter;
        return !ended;
    }

    synchronized void endPromotion() {
        promoter = null;
    }

    /** False if it has ended, or was promoted before. */
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

    /** Nodes of it may be there, or not, that it does not know of. */
    synchronized void putInDoubt() {
        inDoubt = true;
    }

    synchronized boolean isInDoubt() {
        return inDoubt || place.isInDoubt();
    }

    /** Every node of it. */
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

    /** What those who follow it are told when it is released. */
    synchronized WaitSignal farewell() {
        return mode == LockMode.EXCLUSIVE && token.isPresent()
                ? new WaitSignal.Next(token.getAsLong())
                : WaitSignal.LOOK;
    }

    /** False if it has ended before. */
    synchronized boolean end() {
        if (ended) {
            return false;
        }
        ended = true;
        if (promoter != null) {
            promoter.look();
        }
        return true;
    }

    /** The holder is to be told by {@link #tellOfLoss}. */
    synchronized void endAsLost(LossReason reason) {
        if (end()) {
            untold = reason;
        }
    }

    /** Tells the holder that it has ended; false if there is no such news, or another thread tells. */
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

    /** Ends it and tells the holder; false if that was done before. */
    boolean lose(LossReason reason) {
        endAsLost(reason);
        return tellOfLoss();
    }

    void whenLost(Runnable action) {
        CompletableFuture<Void> unused = lost.thenRun(action);
    }

    /** Its nodes are being removed, or not relied on any more. */
    void endPlaces(WaitSignal toFollowers) {
        QueueNode second = promotion();
        if (second != null) {
            second.ended(WaitSignal.LOOK);
        }
        place.ended(toFollowers);
    }

    /** Its nodes are there no longer. */
    void gonePlaces() {
        QueueNode second = promotion();
        if (second != null) {
            second.gone();
        }
        place.gone();
    }
}
