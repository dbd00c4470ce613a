package dev.latchkey.flock;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Who in this JVM holds one file. The JVM holds the kernel's lock as long as anybody in it holds the file; its readers
 * share one. Guarded by the file.
 *
 * <p>An answer of null means that the path leads to another file now: nothing was done, start over with that one.
 */
final class Holds {

    /** A holder elsewhere is converting: the conflict may be over in an instant. */
    static final Response.Conflicted GAVE_WAY = new Response.Conflicted(Duration.ofMillis(1));

    static final Response.Refused REFUSED = new Response.Refused();

    private static final Response.Lost FILE_GONE = new Response.Lost(LossReason.SESSION_LOST);
    private static final Response.Lost TAKEN_OVER = new Response.Lost(LossReason.TAKEN_OVER);
    private static final Response.Lost RELEASED = new Response.Lost(LossReason.RELEASED_ELSEWHERE);

    private final KernelLock kernel;
    private final Map<Owner, Grant> grants = new HashMap<>(4);

    Holds(KernelLock kernel) {
        this.kernel = kernel;
    }

    @Nullable Grant of(Owner owner) {
        return grants.get(owner);
    }

    Collection<Grant> all() {
        return grants.values();
    }

    boolean isEmpty() {
        return grants.isEmpty();
    }

    boolean isOnlyOne() {
        return grants.size() == 1;
    }

    /** Whether one more, in the given mode, gets on with those in this JVM. */
    boolean admit(LockMode mode) {
        if (grants.isEmpty()) {
            return true;
        }
        return mode == LockMode.SHARED && grants.values().iterator().next().mode() == LockMode.SHARED;
    }

    /** Why there is nothing of what a key claims to hold; empty if it is as claimed. */
    Optional<Response.Lost> lost(Key.Held claimed, @Nullable Grant own) {
        if (own == null) {
            return Optional.of(grants.isEmpty() ? RELEASED : TAKEN_OVER);
        }
        // An exclusive hold that was demoted, or released and taken anew, with the same key is not the one claimed.
        boolean asClaimed = claimed.mode() == LockMode.SHARED
                || (own.mode() == LockMode.EXCLUSIVE
                        && own.answer().fencingToken().equals(claimed.fencingToken()));
        return asClaimed ? Optional.empty() : Optional.of(RELEASED);
    }

    /** The answer to a holder whose file is gone from its path, and its hold with it. */
    static @Nullable Response fileGone(Optional<Key.Held> claimed) {
        return claimed.isPresent() ? FILE_GONE : null;
    }

    /** Takes for one who holds nothing and whom this JVM admits. */
    @Nullable Response take(Owner owner, ResourceFile name, LockMode mode) throws IOException {
        try {
            long fencingToken = kernel.tryTake(mode);
            if (fencingToken == KernelLock.CONFLICT) {
                return Response.Conflicted.NO_HINT;
            }
            if (fencingToken == KernelLock.GAVE_WAY) {
                return GAVE_WAY;
            }
            if (!name.leadsToFile()) {
                return null;
            }
            return put(owner, mode == LockMode.EXCLUSIVE ? Grant.exclusive(name, fencingToken) : Grant.shared(name));
        } finally {
            releaseIfUnused();
        }
    }

    /** Promotes without waiting; the shared hold stays if that cannot be. */
    Response promoteNow(Owner owner, Grant own, RetryIntent retryIntent) throws IOException {
        if (!isOnlyOne()) {
            return Response.Conflicted.NO_HINT;
        }
        if (!kernel.beginConversion()) {
            return retryIntent == RetryIntent.AGAIN ? REFUSED : Response.Conflicted.NO_HINT;
        }
        try {
            return promote(owner, own);
        } finally {
            endConversion();
        }
    }

    /** Promotes the only holder in this JVM, in a conversion that has begun. */
    Response promote(Owner owner, Grant own) throws IOException {
        try {
            long fencingToken = kernel.tryPromote();
            return fencingToken == KernelLock.CONFLICT
                    ? Response.Conflicted.NO_HINT
                    : put(owner, own.promoted(fencingToken));
        } finally {
            dropIfLost();
        }
    }

    Response demote(Owner owner, Grant own) throws IOException {
        if (!kernel.beginConversion()) {
            throw new IOException("something else than Latchkey has locked it: it cannot be demoted");
        }
        try {
            kernel.demote();
            return put(owner, own.demoted());
        } finally {
            endConversion();
        }
    }

    /** Whoever has lost the file in it is told first: until it ends, no other process is admitted exclusively. */
    void endConversion() {
        try {
            dropIfLost();
        } finally {
            // Also when telling fails, as where memory runs out: with CONVERSION locked, nobody gets in any more.
            kernel.endConversion();
            // An end that fails closes the file.
            dropIfLost();
        }
    }

    private Response put(Owner owner, Grant grant) {
        grants.put(owner, grant);
        return grant.answer();
    }

    /** Gives up; false if nothing was held. */
    boolean remove(Owner owner) {
        boolean wasHolder = grants.remove(owner) != null;
        releaseIfUnused();
        return wasHolder;
    }

    /** Ends all that came by a name; their holders know it before the file can be anybody else's. */
    void loseAll(ResourceFile name, LossReason reason) {
        lose(grant -> grant.name() == name, reason);
        releaseIfUnused();
    }

    private void lose(Predicate<Grant> which, LossReason reason) {
        List<Grant> ending = grants.values().stream().filter(which).toList();
        ending.forEach(grant -> grant.lost().complete(reason));
        grants.values().removeAll(ending);
    }

    private void releaseIfUnused() {
        if (grants.isEmpty()) {
            kernel.release();
        }
    }

    /** A conversion that failed halfway may have lost what it began with. */
    private void dropIfLost() {
        if (!kernel.isHeld()) {
            lose(grant -> true, LossReason.SESSION_LOST);
        }
    }
}
