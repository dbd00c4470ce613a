package dev.latchkey.store;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.QueuedWaiter;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.store.ResourceHolders.Grant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Who holds one resource and who waits for it; guarded by the stripe.
 *
 * <ol>
 *   <li>An exclusive hold needs that nobody else holds; a shared one, that nobody holds exclusively.
 *   <li>Nobody overtakes the queue, except a holder that renews, demotes, or promotes as the only one left: the others
 *       would wait for it in vain.
 *   <li>A waiting promoter stands at the head, for those behind wait for its shared hold anyway. A second one is refused:
 *       each would wait for the other.
 * </ol>
 */
final class LockEntry {

    private final FencingCounter fencingTokens;
    private final Recalls recalls;
    private final ResourceHolders grants = new ResourceHolders();
    private final Deque<Waiter> queue = new ArrayDeque<>(0);

    LockEntry(FencingCounter fencingTokens, Recalls recalls) {
        this.fencingTokens = fencingTokens;
        this.recalls = recalls;
    }

    Response save(Request request, long now) {
        Response refusal = refusal(request, now);
        if (refusal != null) {
            return refusal;
        }
        Grant own = grants.live(request.key(), now);
        boolean wasHeld = own != null;
        Response granted = take(request, own, now);
        if (wasHeld) {
            serve(now);
            wakeHead();
        }
        return granted;
    }

    /** Grants what nobody stands in the way of: anew, or to who holds it already as a promotion, demotion or renewal. */
    private Response take(Request request, @Nullable Grant own, long now) {
        if (own == null) {
            grants.removeEnded(now);
            long end = now + request.ttl().toNanos();
            return hold(request, fencingToken(request.mode()), end, new ResourceHolders.Stake(null, request, now), now);
        }
        if (isPromotion(request, own)) {
            return hold(
                    request,
                    fencingToken(LockMode.EXCLUSIVE),
                    endOf(request, own, now),
                    new ResourceHolders.Stake(own, request, now),
                    now);
        }
        if (request.isDemotion()) {
            // It claims the promotion, so that this is not given back. Else each cycle would add to what is kept.
            own.stake().settle();
        }
        Grant kept = renewed(request, own, now);
        boolean isDemoted = request.isDemotion() && own.mode() == LockMode.EXCLUSIVE;
        return grants.tell(
                request.key(),
                isDemoted
                        ? new Grant(
                                LockMode.SHARED, OptionalLong.empty(), kept.endNanos(), own.stake(), kept.lastToken())
                        : kept,
                now);
    }

    private static boolean isPromotion(Request request, Grant own) {
        return own.mode() == LockMode.SHARED && request.mode() == LockMode.EXCLUSIVE;
    }

    Response refresh(Request request, long now) {
        Grant own = grants.live(request.key(), now);
        if (own == null || !request.key().held().map(own::isAsClaimed).orElse(true)) {
            return grants.lost(request.key(), own, now);
        }
        Grant refreshed = renewed(request, own, now);
        wakeHead();
        return isToldOf(own, request.key())
                ? grants.tell(request.key(), refreshed, now)
                : grants.put(request.key(), refreshed, now);
    }

    /** The hold with its TTL started again, and under the token that is claimed. */
    private Grant renewed(Request request, Grant own, long now) {
        Grant claimed = own.as(request.key());
        long lastToken = Math.max(own.lastToken(), claimed.fencingToken().orElse(0) + request.reservedTokens());
        fencingTokens.raiseTo(own.mode() == LockMode.EXCLUSIVE ? lastToken : 0);
        return new Grant(own.mode(), claimed.fencingToken(), endOf(request, own, now), own.stake(), lastToken);
    }

    /** Whoever claims no more than a shared hold need not know of its promotion, which may still be undone. */
    private static boolean isToldOf(Grant own, Key key) {
        return key.held().map(claimed -> claimed.mode() == own.mode()).orElse(true);
    }

    /** False if the key does not hold exclusively, or with a greater fencing token. */
    boolean raiseFence(Key key, long fence, long now) {
        Grant own = grants.live(key, now);
        if (own == null
                || own.mode() != LockMode.EXCLUSIVE
                || own.fencingToken().orElse(0) > fence) {
            return false;
        }
        long last = Math.max(fence, own.lastToken());
        var unused =
                grants.put(key, new Grant(own.mode(), OptionalLong.of(fence), own.endNanos(), own.stake(), last), now);
        return true;
    }

    /** Why a request cannot be granted now; null if it can. */
    @Nullable Response refusal(Request request, long now) {
        serve(now);
        Key key = request.key();
        Grant own = grants.live(key, now);
        boolean isRepeatedDemotion = own != null && own.mode() == LockMode.SHARED && request.isDemotion();
        if (key.held().isPresent()
                && !isRepeatedDemotion
                && (own == null || !own.isAsClaimed(key.held().get()))) {
            return grants.lost(key, own, now);
        }
        boolean takes = own == null;
        boolean promotes = own != null && isPromotion(request, own);
        boolean fits = (takes && queue.isEmpty() && grants.admits(key, request.mode(), now))
                || (promotes && grants.admits(key, LockMode.EXCLUSIVE, now))
                || !(takes || promotes);
        return fits ? null : grants.conflict(request, now, recalls);
    }

    boolean delete(Key key, long now) {
        boolean wasHolder = grants.remove(key);
        serve(now);
        return wasHolder;
    }

    /** Whoever finds a hold may believe in it from then on. */
    Optional<Response.Granted> find(Key key, long now) {
        return Optional.ofNullable(grants.live(key, now))
                .map(own -> own.as(key))
                .map(own -> isToldOf(own, key) ? grants.tell(key, own, now) : own.answer(now));
    }

    List<Holder> holders(long now) {
        return grants.holders(now);
    }

    /** Who waits, but for those who have their answer and have not left yet. */
    List<QueuedWaiter> waiters(long now) {
        return queue.stream()
                .filter(waiter -> !waiter.isOver())
                .map(waiter -> waiter.shown(now))
                .toList();
    }

    /** Ends the exclusive hold with this fencing token. Returns what tells its holder; empty if there is no such hold. */
    Optional<CompletableFuture<LossReason>> forceRelease(long fencingToken, long now) {
        Optional<CompletableFuture<LossReason>> ended = grants.removeForced(fencingToken, now);
        serve(now);
        return ended;
    }

    /** Returns what tells the Locks over a key that its hold was ended by force; empty if it was not. */
    Optional<CompletableFuture<LossReason>> forced(Key key) {
        return grants.forced(key);
    }

    /** Joins the queue; false for a promoter when another waits already. */
    boolean enqueue(Waiter waiter) {
        if (!waiter.isPromoter()) {
            queue.addLast(waiter);
            return true;
        }
        Waiter head = queue.peekFirst();
        if (head != null && head.isPromoter()) {
            return false;
        }
        queue.addFirst(waiter);
        return true;
    }

    /** The wait is over, by an answer or by its time. */
    void leave(Waiter waiter, long now) {
        queue.remove(waiter);
        serve(now);
        wakeHead();
    }

    /** The wait was broken off: what was granted meanwhile is undone, and a promoter has its shared hold back. */
    void leaveWithNothing(Waiter waiter, long now) {
        waiter.stake().ifPresent(stake -> grants.giveBack(waiter.request().key(), stake));
        leave(waiter, now);
    }

    /** Grants what can be granted, from the head of the queue on. */
    void serve(long now) {
        Waiter head = queue.peekFirst();
        while (head != null && mayLeaveQueue(head, now)) {
            queue.removeFirst();
            head = queue.peekFirst();
        }
        if (head != null) {
            boolean unused = grants.recall(head.request(), now, recalls);
        }
    }

    private boolean mayLeaveQueue(Waiter head, long now) {
        Request request = head.request();
        Grant own = grants.live(request.key(), now);
        if (head.isPromoter() && own == null) {
            head.answer(grants.lost(request.key(), null, now));
            return true;
        }
        if (!grants.admits(request.key(), request.mode(), now)) {
            return false;
        }
        Response answer = take(request, own, now);
        Grant granted = grants.live(request.key(), now);
        if (granted != null) {
            head.setStake(granted.stake());
        }
        head.answer(answer);
        return true;
    }

    /**
     * Waits once for an answer; false if the wait is over. Only the first in the queue looks after leases that end: it serves the
     * queue then.
     */
    @SuppressWarnings("WaitNotInLoop")
    boolean await(Waiter waiter, long endNanos) throws InterruptedException {
        long now = System.nanoTime();
        if (queue.peekFirst() == waiter) {
            // A lease may have ended since this was looked at last: nobody wakes it for that.
            serve(now);
        }
        if (waiter.isOver() || endNanos - now <= 0) {
            return false;
        }
        if (recalls.isEmpty()) {
            long unused = waiter.changed().awaitNanos(Math.min(endNanos - now, nanosToNextLeaseEnd(waiter, now)));
        }
        return true;
    }

    long nanosToNextLeaseEnd(Waiter waiter, long now) {
        return queue.peekFirst() == waiter ? grants.nanosToNextEnd(now) : Long.MAX_VALUE;
    }

    void wakeAll() {
        queue.forEach(Waiter::withdraw);
    }

    boolean isEmpty() {
        return grants.isEmpty() && queue.isEmpty();
    }

    boolean isHeld(long now) {
        return !grants.areOverAt(now);
    }

    boolean wasOverAt(long then) {
        return queue.isEmpty() && grants.areOverAt(then) && !grants.isRememberedAt(then);
    }

    private void wakeHead() {
        Waiter head = queue.peekFirst();
        if (head != null) {
            head.wake();
        }
    }

    /** When the lease of a hold that is there ends: not sooner than it would, unless that is asked for. */
    private static long endOf(Request request, Grant own, long now) {
        long asked = request.ttl().toNanos();
        long left = own.endNanos() - now;
        return now + (request.leaseChange() == LeaseChange.SET ? asked : Math.max(asked, left));
    }

    private Response hold(
            Request request, OptionalLong fencingToken, long endNanos, ResourceHolders.Stake stake, long now) {
        long lastToken = fencingToken.orElse(0);
        if (request.isSticky() && fencingToken.isPresent()) {
            lastToken += request.reservedTokens();
            fencingTokens.raiseTo(lastToken);
        }
        return grants.tell(request.key(), new Grant(request.mode(), fencingToken, endNanos, stake, lastToken), now);
    }

    private OptionalLong fencingToken(LockMode mode) {
        return mode == LockMode.EXCLUSIVE ? OptionalLong.of(fencingTokens.next()) : OptionalLong.empty();
    }
}
