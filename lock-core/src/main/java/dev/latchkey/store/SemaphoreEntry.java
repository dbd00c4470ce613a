package dev.latchkey.store;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.PermitHolder;
import dev.latchkey.spi.Permits;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Who holds permits of one semaphore and who waits for them; guarded by the table.
 *
 * <p>The rules are those of {@link dev.latchkey.spi.PermitStore}. Leases that have ended are removed before anything is decided.
 */
final class SemaphoreEntry {

    /** The permits of one key, by the clock of this process. */
    private record Grant(Permits permits, long endNanos, long sinceNanos, String owner) {

        Response.Granted answer(long now) {
            Lease lease = Lease.timed(now, Duration.ofNanos(endNanos - now));
            return new Response.Granted(LockMode.SHARED, OptionalLong.empty(), lease);
        }
    }

    private final Map<String, Grant> byToken = new HashMap<>(4);
    private final Deque<PermitWaiter> queue = new ArrayDeque<>(0);

    Response save(Request request, long now) {
        serve(now);
        if (byToken.containsKey(request.key().token())) {
            return refresh(request, now);
        }
        if (request.key().held().isPresent()) {
            return ResourceHolders.EXPIRED;
        }
        Permits wanted = Permits.of(request.key());
        return queue.isEmpty() && fits(wanted) ? grant(request, wanted, now) : conflict(now);
    }

    private Response.Granted grant(Request request, Permits wanted, long now) {
        Grant granted = new Grant(wanted, now + request.ttl().toNanos(), now, request.owner());
        byToken.put(request.key().token(), granted);
        return granted.answer(now);
    }

    private boolean fits(Permits wanted) {
        int limit = wanted.limit();
        long held = wanted.count();
        for (Grant grant : byToken.values()) {
            limit = Math.min(limit, grant.permits().limit());
            held += grant.permits().count();
        }
        return held <= limit;
    }

    Response refresh(Request request, long now) {
        serve(now);
        Grant own = byToken.get(request.key().token());
        if (own == null) {
            return ResourceHolders.EXPIRED;
        }
        long asked = now + request.ttl().toNanos();
        boolean isSooner = asked - own.endNanos() < 0;
        long end = isSooner && request.leaseChange() != LeaseChange.SET ? own.endNanos() : asked;
        Grant refreshed = new Grant(own.permits(), end, own.sinceNanos(), own.owner());
        byToken.put(request.key().token(), refreshed);
        if (isSooner) {
            wakeHead();
        }
        return refreshed.answer(now);
    }

    /** Also true if the lease was over already, and nobody has looked since. */
    boolean delete(Key key, long now) {
        boolean wasHolder = byToken.remove(key.token()) != null;
        serve(now);
        return wasHolder;
    }

    Optional<Response.Granted> find(Key key, long now) {
        return Optional.ofNullable(byToken.get(key.token()))
                .filter(own -> own.endNanos() - now > 0)
                .map(own -> own.answer(now));
    }

    List<PermitHolder> holders(long now) {
        return byToken.values().stream()
                .filter(grant -> grant.endNanos() - now > 0)
                .map(grant -> new PermitHolder(
                        grant.permits().count(),
                        grant.permits().limit(),
                        Duration.ofNanos(grant.endNanos() - now),
                        Duration.ofNanos(now - grant.sinceNanos()),
                        Optional.of(grant.owner()).filter(owner -> !owner.isEmpty())))
                .toList();
    }

    void enqueue(PermitWaiter waiter) {
        queue.addLast(waiter);
    }

    /** Waits for an answer. Only the first in the queue looks after leases that end. */
    void await(PermitWaiter waiter, long endNanos) throws InterruptedException {
        while (!waiter.isOver()) {
            long now = System.nanoTime();
            if (endNanos - now <= 0) {
                return;
            }
            long leaseEnd = queue.peekFirst() == waiter ? nanosToNextEnd(now) : Long.MAX_VALUE;
            if (leaseEnd <= 0) {
                serve(now);
            } else {
                long unused = waiter.changed().awaitNanos(Math.min(endNanos - now, leaseEnd));
            }
        }
    }

    void leave(PermitWaiter waiter, long now) {
        queue.remove(waiter);
        serve(now);
        wakeHead();
    }

    /** Leaves; what was granted meanwhile is given back. */
    void leaveWithNothing(PermitWaiter waiter, long now) {
        waiter.granted()
                .ifPresent(granted -> byToken.remove(waiter.request().key().token()));
        leave(waiter, now);
    }

    /** Removes leases that have ended, and grants from the head of the queue on what fits. */
    private void serve(long now) {
        byToken.values().removeIf(grant -> grant.endNanos() - now <= 0);
        PermitWaiter head = queue.peekFirst();
        while (head != null && fits(head.permits())) {
            queue.removeFirst();
            head.grant(grant(head.request(), head.permits(), now));
            head = queue.peekFirst();
        }
    }

    private Response.Conflicted conflict(long now) {
        return byToken.isEmpty()
                ? Response.Conflicted.NO_HINT
                : new Response.Conflicted(Duration.ofNanos(Math.max(0, nanosToNextEnd(now))));
    }

    private long nanosToNextEnd(long now) {
        return byToken.values().stream()
                .mapToLong(grant -> grant.endNanos() - now)
                .min()
                .orElse(Long.MAX_VALUE);
    }

    void wakeAll() {
        queue.forEach(PermitWaiter::withdraw);
    }

    private void wakeHead() {
        PermitWaiter head = queue.peekFirst();
        if (head != null) {
            head.changed().signal();
        }
    }

    boolean isEmpty() {
        return byToken.isEmpty() && queue.isEmpty();
    }

    boolean isOver(long now) {
        return queue.isEmpty() && byToken.values().stream().allMatch(grant -> grant.endNanos() - now <= 0);
    }
}
