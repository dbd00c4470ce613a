package dev.latchkey.zookeeper;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The hold of one key: the node in the queue that carries it, and the nodes that were added since. Thread-safe. */
final class Hold {

    /** Long enough that its recall is not taken for that of another holder, after which it would not be kept. */
    private static final long LEAST_KEPT_NANOS = 2_000_000_000;

    private final Key key;
    private final QueueNode place;
    private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
    private final CompletableFuture<Void> recalled = new CompletableFuture<>();
    private final long keptUntilNanos;
    private final boolean isSticky;
    private final Lease lease;

    /** Held while a request that does not wait changes the mode. */
    private final ReentrantLock change = new ReentrantLock();

    /** Several if several callers with its key wait to promote it. */
    private final Set<Waiter> promoters = new HashSet<>();

    private LockMode mode;

    /** The transaction whose number gives its fencing token. */
    private OptionalLong zxid;

    private @Nullable QueueNode promotion;
    private int promotions;
    private boolean inDoubt;
    private boolean ended;

    /** Why it has ended, until the holder is told. */
    private @Nullable LossReason untold;

    /** @param zxid the transaction whose number gives its fencing token; empty for a shared hold */
    Hold(Request request, QueueNode place, OptionalLong zxid) {
        this.key = request.key();
        this.place = place;
        this.isSticky = request.isSticky();
        this.keptUntilNanos = System.nanoTime() + Math.max(request.ttl().toNanos(), LEAST_KEPT_NANOS);
        this.lease = new Lease(
                OptionalLong.empty(),
                Duration.ZERO,
                Optional.of(lost.minimalCompletionStage()),
                place.session().mayLive(),
                isSticky ? Optional.of(recalled.minimalCompletionStage()) : Optional.empty());
        this.mode = request.mode();
        this.zxid = zxid;
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
                || (mode == LockMode.EXCLUSIVE
                        && (isSticky ? isReserved(claimed) : token().equals(claimed.fencingToken())));
    }

    private boolean isReserved(Key.Held claimed) {
        return zxid.isPresent() && FencingTokens.isOf(zxid.getAsLong(), claimed.fencingToken());
    }

    private OptionalLong token() {
        return zxid.isPresent() ? OptionalLong.of(FencingTokens.first(zxid.getAsLong())) : zxid;
    }

    synchronized Response.Granted answer() {
        return new Response.Granted(mode, token(), lease);
    }

    /** The answer to a key that may claim another one of its tokens. */
    synchronized Response.Granted answer(Key claiming) {
        OptionalLong claimed = claiming.held()
                .filter(held -> isSticky && mode == LockMode.EXCLUSIVE && isReserved(held))
                .map(Key.Held::fencingToken)
                .orElse(token());
        return new Response.Granted(mode, claimed, lease);
    }

    /** Somebody else asks for the resource. */
    void recall() {
        recalled.complete(null);
    }

    /** A sticky hold is not kept for ever, also if nobody asks for it. */
    void recallIfOver(long now) {
        if (isSticky && now - keptUntilNanos >= 0) {
            recall();
        }
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
        zxid = OptionalLong.of(second.zxid());
        return true;
    }

    synchronized @Nullable QueueNode promotion() {
        return promotion;
    }

    synchronized void demoted() {
        promotion = null;
        mode = LockMode.SHARED;
        zxid = OptionalLong.empty();
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
        return mode == LockMode.EXCLUSIVE && zxid.isPresent() ? new WaitSignal.Next(zxid.getAsLong()) : WaitSignal.LOOK;
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
