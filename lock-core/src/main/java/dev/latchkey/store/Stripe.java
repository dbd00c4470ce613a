package dev.latchkey.store;

import dev.latchkey.Key;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.ListedResource;
import dev.latchkey.spi.QueuedWaiter;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The resources of an in-memory store that share one guard. */
final class Stripe {

    /** Leaves room to count on, whatever a caller proposes. */
    private static final long LARGEST_PROPOSAL = 1L << 53;

    private final int number;
    private final ReentrantLock guard = new ReentrantLock();
    private final FencingCounter fencingTokens = new FencingCounter();
    private final Recalls recalls = new Recalls();
    private final LockTable rooms;

    Stripe(int number, long retentionNanos) {
        this.number = number;
        this.rooms = new LockTable(fencingTokens, recalls, retentionNanos);
    }

    Response save(Request request, long proposal) {
        guard.lock();
        try {
            if (proposal <= LARGEST_PROPOSAL) {
                fencingTokens.raiseTo(proposal - 1);
            }
            return saveNow(request);
        } finally {
            leave();
        }
    }

    private Response saveNow(Request request) {
        return saveAt(System.nanoTime(), request);
    }

    /** Takes at a moment that is the same for a whole batch; inside the guard. */
    Response saveAt(long now, Request request) {
        String resource = request.key().resource();
        rooms.checkOpen(resource);
        LockEntry room = rooms.enter(resource);
        Response response = room.save(request, now);
        rooms.removeIfEmpty(resource, room);
        return response;
    }

    /** Why a request cannot be granted at a moment; null if it can. Inside the guard. */
    @Nullable Response refusal(Request request, long now) {
        String resource = request.key().resource();
        rooms.checkOpen(resource);
        LockEntry room = rooms.get(resource);
        if (room == null) {
            return request.key().held().isPresent() ? ResourceHolders.EXPIRED : null;
        }
        Response refusal = room.refusal(request, now);
        rooms.removeIfEmpty(resource, room);
        return refusal;
    }

    int number() {
        return number;
    }

    /** What a batch over several stripes takes from all of them first, in their order. */
    ReentrantLock guard() {
        return guard;
    }

    /** Leaves the guard, and returns the recalls that are to be sent then. */
    List<CompletableFuture<Void>> unlock() {
        List<CompletableFuture<Void>> due = guard.getHoldCount() == 1 ? recalls.take() : List.of();
        guard.unlock();
        return due;
    }

    private void leave() {
        if (recalls.isEmpty()) {
            guard.unlock();
        } else {
            Recalls.send(unlock());
        }
    }

    /** Sends what is due although this thread stays: outside the guard, because that runs code of the holders. */
    private void sendRecalls() {
        if (!recalls.isEmpty()) {
            leave();
            guard.lock();
        }
    }

    Response waitAndSave(Request request, Duration maxWait, CompletionStage<?> withdrawn) throws InterruptedException {
        String resource = request.key().resource();
        long end = System.nanoTime() + maxWait.toNanos();
        guard.lockInterruptibly();
        try {
            Response response = saveNow(request);
            if (!(response instanceof Response.Conflicted)) {
                return response;
            }
            // A conflict means that somebody holds it or waits, so the room is still there.
            LockEntry room = rooms.enter(resource);
            Waiter waiter = new Waiter(request, guard.newCondition());
            if (!room.enqueue(waiter)) {
                return new Response.Refused();
            }
            withdrawn.thenRun(() -> withdraw(waiter));
            boolean wanted = false;
            try {
                do {
                    sendRecalls();
                } while (room.await(waiter, end));
                wanted = !waiter.isWithdrawn();
            } finally {
                if (wanted) {
                    room.leave(waiter, System.nanoTime());
                } else {
                    room.leaveWithNothing(waiter, System.nanoTime());
                }
                rooms.removeIfEmpty(resource, room);
            }
            rooms.checkOpen(resource);
            return wanted ? waiter.answer().orElse(Response.Conflicted.NO_HINT) : Response.Conflicted.NO_HINT;
        } finally {
            leave();
        }
    }

    private void withdraw(Waiter waiter) {
        guard.lock();
        try {
            waiter.withdraw();
        } finally {
            leave();
        }
    }

    Response refresh(Request request) {
        guard.lock();
        try {
            String resource = request.key().resource();
            rooms.checkOpen(resource);
            LockEntry room = rooms.get(resource);
            return room == null ? ResourceHolders.EXPIRED : room.refresh(request, System.nanoTime());
        } finally {
            leave();
        }
    }

    boolean raiseFence(Key key, long fence) {
        guard.lock();
        try {
            LockEntry room = rooms.get(key.resource());
            if (room == null || !room.raiseFence(key, fence, System.nanoTime())) {
                return false;
            }
            fencingTokens.raiseTo(fence);
            return true;
        } finally {
            leave();
        }
    }

    boolean delete(Key key) {
        boolean wasHolder = deleteNow(key);
        if (!wasHolder) {
            tellIfForced(key);
        }
        return wasHolder;
    }

    /** As {@link #delete}, for a caller that is in the guard, and tells nobody. */
    boolean deleteNow(Key key) {
        guard.lock();
        try {
            LockEntry room = rooms.get(key.resource());
            if (room == null) {
                return false;
            }
            boolean wasHolder = room.delete(key, System.nanoTime());
            rooms.removeIfEmpty(key.resource(), room);
            return wasHolder;
        } finally {
            leave();
        }
    }

    Optional<Response.Granted> find(Key key) {
        Optional<Response.Granted> found = findNow(key);
        if (found.isEmpty()) {
            tellIfForced(key);
        }
        return found;
    }

    private Optional<Response.Granted> findNow(Key key) {
        guard.lock();
        try {
            LockEntry room = rooms.get(key.resource());
            return room == null ? Optional.empty() : room.find(key, System.nanoTime());
        } finally {
            leave();
        }
    }

    /** Whoever ended the hold may not have come to tell it yet, and the answer to the caller does not say why it is gone. */
    private void tellIfForced(Key key) {
        forced(key).ifPresent(lost -> lost.complete(LossReason.FORCED));
    }

    private Optional<CompletableFuture<LossReason>> forced(Key key) {
        guard.lock();
        try {
            LockEntry room = rooms.get(key.resource());
            return room == null ? Optional.empty() : room.forced(key);
        } finally {
            leave();
        }
    }

    List<Holder> holders(String resource) {
        guard.lock();
        try {
            LockEntry room = rooms.get(resource);
            return room == null ? List.of() : room.holders(System.nanoTime());
        } finally {
            leave();
        }
    }

    List<QueuedWaiter> waiters(String resource) {
        guard.lock();
        try {
            LockEntry room = rooms.get(resource);
            return room == null ? List.of() : room.waiters(System.nanoTime());
        } finally {
            leave();
        }
    }

    void addHeld(String prefix, Optional<String> after, Collection<String> names) {
        guard.lock();
        try {
            rooms.addHeld(prefix, after, System.nanoTime(), names);
        } finally {
            leave();
        }
    }

    /** Empty if it is not held any more. */
    Optional<ListedResource> listed(String resource) {
        guard.lock();
        try {
            List<Holder> holders = holders(resource);
            return holders.isEmpty()
                    ? Optional.empty()
                    : Optional.of(new ListedResource(resource, holders, Optional.of(waiters(resource))));
        } finally {
            leave();
        }
    }

    /** The holder is told outside the guard, because that runs its listeners. */
    boolean forceRelease(String resource, long fencingToken) {
        Optional<CompletableFuture<LossReason>> ended = endByForce(resource, fencingToken);
        ended.ifPresent(lost -> lost.complete(LossReason.FORCED));
        return ended.isPresent();
    }

    private Optional<CompletableFuture<LossReason>> endByForce(String resource, long fencingToken) {
        guard.lock();
        try {
            LockEntry room = rooms.get(resource);
            if (room == null) {
                return Optional.empty();
            }
            Optional<CompletableFuture<LossReason>> ended = room.forceRelease(fencingToken, System.nanoTime());
            rooms.removeIfEmpty(resource, room);
            return ended;
        } finally {
            leave();
        }
    }

    void close() {
        guard.lock();
        try {
            rooms.close();
        } finally {
            leave();
        }
    }

    int size() {
        guard.lock();
        try {
            return rooms.size();
        } finally {
            leave();
        }
    }
}
