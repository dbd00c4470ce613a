package dev.latchkey.dynamodb;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.dynamodb.Items.Result;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Acquires, renews and releases holds. What a condition decides is decided by DynamoDB; whether a holder is dead, by what this
 * store has {@linkplain Observations seen} of it, which the condition then names.
 */
final class Holds {

    /** How often others may change an item while it is changed. */
    private static final int ATTEMPTS = 10;

    /** No record has this version: the condition fails, and the answer says what is there. */
    private static final String UNKNOWN = "-";

    private final Items items;
    private final Observations observations;

    Holds(Items items, Observations observations) {
        this.items = items;
        this.observations = observations;
    }

    Response save(Request request) {
        return request.key().held().isPresent() ? renew(request) : acquire(request);
    }

    /** One write if the resource seems to be free; one read if a holder is known that seems to live. */
    private Response acquire(Request request) {
        String resource = request.key().resource();
        String item = ItemKey.of(resource);
        Optional<Observation> seen = observations.of(item);
        Optional<LockItem> found;
        if (seen.isPresent() && !seen.get().isOver()) {
            found = items.read(resource, item);
        } else {
            Attempt first = attempt(request, item, Change.acquire(request, seen.map(Observation::version)));
            if (first.granted().isPresent()) {
                return first.granted().get();
            }
            found = first.found();
        }
        for (int i = 0; i < ATTEMPTS; i++) {
            Optional<Response> refusal = found.flatMap(there -> refusal(request, item, there));
            if (refusal.isPresent()) {
                return refusal.get();
            }
            Attempt next = attempt(request, item, change(request, item, found));
            if (next.granted().isPresent()) {
                return next.granted().get();
            }
            found = next.found();
        }
        throw Failures.unsettled(resource);
    }

    /** The answer if another key holds, as far as this store has seen. */
    private Optional<Response> refusal(Request request, String item, LockItem there) {
        if (there.isFree() || there.isHeldBy(request.key())) {
            return Optional.empty();
        }
        Observation seen = observations.see(item, there);
        return seen.isOver() ? Optional.empty() : Optional.of(new Response.Conflicted(seen.left()));
    }

    /** What acquires a resource that is free, is held by this key, or whose holder is dead. */
    private Change change(Request request, String item, Optional<LockItem> found) {
        if (found.isEmpty()) {
            return Change.acquireInRange(request, items.newRange(request.key().resource()), Optional.empty());
        }
        LockItem there = found.get();
        Optional<String> dead = deadVersion(item).filter(there.version()::equals);
        if (there.isHeldBy(request.key()) && dead.isEmpty()) {
            return Change.renewSeen(request, renewedLease(request, item, there), there);
        }
        return there.hasTokens()
                ? Change.acquire(request, dead)
                : Change.acquireInRange(
                        request, items.newRange(request.key().resource()), Optional.of(there.version()));
    }

    Response renew(Request request) {
        String resource = request.key().resource();
        String item = ItemKey.of(resource);
        OptionalLong claimed = request.key().held().map(Key.Held::fencingToken).orElse(OptionalLong.empty());
        Optional<Observation> seen = observations.of(item).filter(known -> !known.isOver());
        Change change = Change.renew(
                request.key(),
                request.owner(),
                seen.map(known -> renewedLease(request, known.left())).orElse(request.ttl()),
                claimed,
                seen.map(Observation::version).orElse(UNKNOWN));
        for (int i = 0; i < ATTEMPTS; i++) {
            Attempt attempt = attempt(request, item, change);
            if (attempt.granted().isPresent()) {
                return attempt.granted().get();
            }
            Optional<LossReason> loss = loss(request.key(), claimed, item, attempt.found());
            if (loss.isPresent()) {
                return new Response.Lost(loss.get());
            }
            LockItem there = attempt.found().orElseThrow();
            change = Change.renewSeen(request, renewedLease(request, item, there), there);
        }
        throw Failures.unsettled(resource);
    }

    private Optional<LossReason> loss(Key key, OptionalLong claimed, String item, Optional<LockItem> found) {
        if (found.isEmpty() || found.get().isFree()) {
            return Optional.of(LossReason.RELEASED_ELSEWHERE);
        }
        LockItem there = found.get();
        if (!there.isHeldBy(key) || (claimed.isPresent() && claimed.getAsLong() != there.fence())) {
            return Optional.of(LossReason.TAKEN_OVER);
        }
        return deadVersion(item).filter(there.version()::equals).map(version -> LossReason.EXPIRED);
    }

    /** The TTL, or what is left of the present lease if that is longer: all of it, unless this store has seen it begin. */
    private Duration renewedLease(Request request, String item, LockItem there) {
        return renewedLease(
                request,
                observations
                        .of(item)
                        .filter(seen -> seen.version().equals(there.version()))
                        .map(Observation::left)
                        .orElse(there.lease()));
    }

    private static Duration renewedLease(Request request, Duration left) {
        return request.leaseChange() == LeaseChange.SET || left.compareTo(request.ttl()) < 0 ? request.ttl() : left;
    }

    private Optional<String> deadVersion(String item) {
        return observations.of(item).filter(Observation::isOver).map(Observation::version);
    }

    boolean delete(Key key) {
        String item = ItemKey.of(key.resource());
        String seen = observations.of(item).map(Observation::version).orElse(UNKNOWN);
        for (int i = 0; i < ATTEMPTS; i++) {
            Result result = items.change(key.resource(), item, Change.release(key, seen));
            if (result instanceof Result.Done) {
                observations.forget(item);
                return true;
            }
            Optional<LockItem> held = ((Result.Refused) result).item().filter(there -> there.isHeldBy(key));
            if (held.isEmpty()) {
                return false;
            }
            seen = held.get().version();
        }
        throw Failures.unsettled(key.resource());
    }

    /**
     * Looks for a hold. A version that another store wrote was written at an unknown time, and so may be given up at any moment: it
     * is renewed, once, for its whole lease.
     */
    Optional<Response.Granted> find(Key key) {
        String item = ItemKey.of(key.resource());
        Optional<LockItem> found = items.read(key.resource(), item);
        for (int i = 0; i < ATTEMPTS; i++) {
            if (found.isEmpty() || !found.get().isHeldBy(key)) {
                return Optional.empty();
            }
            LockItem there = found.get();
            Observation seen = observations.see(item, there);
            if (seen.isOver()) {
                return Optional.empty();
            }
            if (seen.writtenNanos().isPresent()) {
                return Optional.of(granted(there.fence(), seen.writtenNanos().getAsLong(), seen.lease()));
            }
            Attempt attempt = attempt(key, item, Change.adopt(key, there));
            if (attempt.granted().isPresent()) {
                return attempt.granted();
            }
            found = attempt.found();
        }
        throw Failures.unsettled(key.resource());
    }

    boolean forceRelease(String resource, long fencingToken) {
        String item = ItemKey.of(resource);
        if (items.change(resource, item, Change.forceRelease(fencingToken)) instanceof Result.Done) {
            observations.forget(item);
            return true;
        }
        return false;
    }

    private Attempt attempt(Request request, String item, Change change) {
        return attempt(request.key(), item, change);
    }

    private Attempt attempt(Key key, String item, Change change) {
        long before = System.nanoTime();
        Result result = items.change(key.resource(), item, change);
        if (result instanceof Result.Done done) {
            observations.wrote(item, Observation.ofOwn(change.version(), change.lease(), before));
            return new Attempt(Optional.of(granted(done.item().fence(), before, change.lease())), Optional.empty());
        }
        return new Attempt(Optional.empty(), ((Result.Refused) result).item());
    }

    private static Response.Granted granted(long fence, long since, Duration lease) {
        return new Response.Granted(LockMode.EXCLUSIVE, OptionalLong.of(fence), Lease.timed(since, lease));
    }

    /** What came of a change: a grant, or what was found in its place. */
    private record Attempt(Optional<Response.Granted> granted, Optional<LockItem> found) {}
}
