package dev.latchkey.store;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Attempt;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Request;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
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
 *   <li>An ended lease counts for nothing, but stays until somebody else is granted the resource, so that a late release
 *       can tell whether the resource changed hands.
 * </ol>
 */
final class Room {

    static final Attempt.Lost EXPIRED = new Attempt.Lost(LossReason.EXPIRED);

    private static final Attempt.Lost TAKEN_OVER = new Attempt.Lost(LossReason.TAKEN_OVER);
    private static final Attempt.Lost RELEASED = new Attempt.Lost(LossReason.RELEASED_ELSEWHERE);

    /** One holder's hold, by the store's clock. */
    record Grant(LockMode mode, OptionalLong fencingToken, long endNanos) {

        boolean isLive(long now) {
            return endNanos - now > 0;
        }

        Attempt.Granted answer(long now) {
            return new Attempt.Granted(mode, fencingToken, Lease.timed(now, Duration.ofNanos(endNanos - now)));
        }
    }

    private final Stripe stripe;
    private final Map<String, Grant> grants = new HashMap<>(4);
    private final Deque<Waiter> queue = new ArrayDeque<>(0);

    Room(Stripe stripe) {
        this.stripe = stripe;
    }

    Attempt save(Request request, long now) {
        Attempt refusal = refusal(request, now);
        if (refusal != null) {
            return refusal;
        }
        Grant own = liveGrant(request.key(), now);
        if (own == null) {
            return grant(request, now);
        }
        if (own.mode() == LockMode.SHARED && request.mode() == LockMode.EXCLUSIVE) {
            return promote(request, own, now);
        }
        OptionalLong fencingToken = request.mode() == LockMode.SHARED ? OptionalLong.empty() : own.fencingToken();
        Attempt renewed = hold(request, fencingToken, now + request.ttl().toNanos(), now);
        serve(now);
        wakeHead();
        return renewed;
    }

    Attempt refresh(Request request, long now) {
        Grant own = liveGrant(request.key(), now);
        if (own == null
                || !request.key().held().map(held -> isAsClaimed(held, own)).orElse(true)) {
            return lost(request.key(), own, now);
        }
        Grant refreshed =
                new Grant(own.mode(), own.fencingToken(), now + request.ttl().toNanos());
        grants.put(request.key().token(), refreshed);
        wakeHead();
        return refreshed.answer(now);
    }

    /** False if the key does not hold exclusively, or with a greater fencing token. */
    boolean raiseFence(Key key, long fence, long now) {
        Grant own = liveGrant(key, now);
        if (own == null
                || own.mode() != LockMode.EXCLUSIVE
                || own.fencingToken().orElse(0) > fence) {
            return false;
        }
        grants.put(key.token(), new Grant(own.mode(), OptionalLong.of(fence), own.endNanos()));
        return true;
    }

    /** Why a request cannot be granted now; null if it can. */
    @Nullable Attempt refusal(Request request, long now) {
        serve(now);
        Key key = request.key();
        Grant own = liveGrant(key, now);
        if (key.held().isPresent() && !isAsClaimed(key.held().get(), own)) {
            return lost(key, own, now);
        }
        boolean takes = own == null;
        boolean promotes = own != null && own.mode() == LockMode.SHARED && request.mode() == LockMode.EXCLUSIVE;
        boolean fits = (takes && queue.isEmpty() && admits(key, request.mode(), now))
                || (promotes && admits(key, LockMode.EXCLUSIVE, now))
                || !(takes || promotes);
        return fits ? null : conflict(now);
    }

    boolean delete(Key key, long now) {
        boolean wasHolder = grants.remove(key.token()) != null;
        serve(now);
        return wasHolder;
    }

    Optional<Attempt.Granted> find(Key key, long now) {
        return Optional.ofNullable(liveGrant(key, now)).map(own -> own.answer(now));
    }

    List<Holder> holders(long now) {
        return grants.values().stream()
                .filter(grant -> grant.isLive(now))
                .map(grant -> new Holder(
                        grant.mode(),
                        grant.fencingToken(),
                        Optional.of(Duration.ofNanos(grant.endNanos() - now)),
                        Optional.empty()))
                .toList();
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
        if (waiter.answer().orElse(null) instanceof Attempt.Granted) {
            String token = waiter.request().key().token();
            Grant before = waiter.before();
            if (before == null) {
                grants.remove(token);
            } else {
                grants.put(token, before);
            }
        }
        leave(waiter, now);
    }

    /** Grants what can be granted, from the head of the queue on. */
    void serve(long now) {
        Waiter head = queue.peekFirst();
        while (head != null && mayLeaveQueue(head, now)) {
            queue.removeFirst();
            head = queue.peekFirst();
        }
    }

    private boolean mayLeaveQueue(Waiter head, long now) {
        Request request = head.request();
        Grant own = liveGrant(request.key(), now);
        if (head.isPromoter() && own == null) {
            head.answer(lost(request.key(), null, now));
            return true;
        }
        if (!admits(request.key(), request.mode(), now)) {
            return false;
        }
        head.answer(own == null ? grant(request, now) : promoteWaiter(head, own, now));
        return true;
    }

    private Attempt promoteWaiter(Waiter head, Grant own, long now) {
        head.setBefore(own);
        return promote(head.request(), own, now);
    }

    long nanosToNextLeaseEnd(Waiter waiter, long now) {
        if (queue.peekFirst() != waiter) {
            return Long.MAX_VALUE;
        }
        return grants.values().stream()
                .filter(grant -> grant.isLive(now))
                .mapToLong(grant -> grant.endNanos() - now)
                .min()
                .orElse(0);
    }

    void wakeAll() {
        queue.forEach(Waiter::withdraw);
    }

    boolean isEmpty() {
        return grants.isEmpty() && queue.isEmpty();
    }

    boolean wasOverAt(long then) {
        return queue.isEmpty() && grants.values().stream().noneMatch(grant -> grant.isLive(then));
    }

    private void wakeHead() {
        Waiter head = queue.peekFirst();
        if (head != null) {
            head.wake();
        }
    }

    private @Nullable Grant liveGrant(Key key, long now) {
        Grant own = grants.get(key.token());
        return own != null && own.isLive(now) ? own : null;
    }

    /** An exclusive hold that was demoted, or released and taken anew, with the same key elsewhere is not the one claimed. */
    private static boolean isAsClaimed(Key.Held claimed, @Nullable Grant own) {
        return own != null
                && (claimed.mode() == LockMode.SHARED
                        || (own.mode() == LockMode.EXCLUSIVE
                                && own.fencingToken().equals(claimed.fencingToken())));
    }

    private Attempt lost(Key key, @Nullable Grant own, long now) {
        if (own != null) {
            return RELEASED;
        }
        return isHeldByAnother(key, now) ? TAKEN_OVER : EXPIRED;
    }

    private boolean isHeldByAnother(Key key, long now) {
        return grants.entrySet().stream()
                .anyMatch(entry ->
                        !entry.getKey().equals(key.token()) && entry.getValue().isLive(now));
    }

    private boolean admits(Key key, LockMode mode, long now) {
        for (Map.Entry<String, Grant> entry : grants.entrySet()) {
            Grant other = entry.getValue();
            boolean excludes = mode == LockMode.EXCLUSIVE || other.mode() == LockMode.EXCLUSIVE;
            if (excludes && other.isLive(now) && !entry.getKey().equals(key.token())) {
                return false;
            }
        }
        return true;
    }

    private Attempt grant(Request request, long now) {
        grants.values().removeIf(grant -> !grant.isLive(now));
        return hold(request, fencingToken(request.mode()), now + request.ttl().toNanos(), now);
    }

    /** A promotion never shortens the lease: its holder may not learn of it in time, and believes in the shared one. */
    private Attempt promote(Request request, Grant own, long now) {
        long end = now + Math.max(request.ttl().toNanos(), own.endNanos() - now);
        return hold(request, fencingToken(LockMode.EXCLUSIVE), end, now);
    }

    private Attempt hold(Request request, OptionalLong fencingToken, long endNanos, long now) {
        Grant grant = new Grant(request.mode(), fencingToken, endNanos);
        grants.put(request.key().token(), grant);
        return grant.answer(now);
    }

    private OptionalLong fencingToken(LockMode mode) {
        return mode == LockMode.EXCLUSIVE ? OptionalLong.of(stripe.nextFencingToken()) : OptionalLong.empty();
    }

    private Attempt conflict(long now) {
        long nanos = grants.values().stream()
                .filter(grant -> grant.isLive(now))
                .mapToLong(grant -> grant.endNanos() - now)
                .max()
                .orElse(0);
        return new Attempt.Conflicted(Duration.ofNanos(nanos));
    }
}
