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
 * The holders of one file in this JVM. The JVM holds the kernel's lock as long as one of them holds the file; readers share
 * one kernel lock. Guarded by the file's guard.
 *
 * <p>A result of null means that the path now leads to another file: nothing was done, and the caller starts over.
 */
final class Holds {

    /** Another process is converting its hold: the conflict may be over in an instant. */
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

    /** Returns whether the holders in this JVM admit one more in the given mode. */
    boolean admit(LockMode mode) {
        if (grants.isEmpty()) {
            return true;
        }
        return mode == LockMode.SHARED && grants.values().iterator().next().mode() == LockMode.SHARED;
    }

    /** Returns why the key does not hold what it claims; empty if it does. */
    Optional<Response.Lost> lost(Key.Held claimed, @Nullable Grant own) {
        if (own == null) {
            return Optional.of(grants.isEmpty() ? RELEASED : TAKEN_OVER);
        }
        // The claim of an exclusive hold that was demoted, or released and acquired again, with the same key is not
        // true.
        boolean asClaimed = claimed.mode() == LockMode.SHARED
                || (own.mode() == LockMode.EXCLUSIVE
                        && own.answer().fencingToken().equals(claimed.fencingToken()));
        return asClaimed ? Optional.empty() : Optional.of(RELEASED);
    }

    /** Returns the response to a holder whose path no longer leads to its file. */
    static @Nullable Response fileGone(Optional<Key.Held> claimed) {
        return claimed.isPresent() ? FILE_GONE : null;
    }

    /** Acquires for an owner that holds nothing and that the holders in this JVM admit. */
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

    /** Promotes without waiting; keeps the shared hold if that fails. */
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

    /** Promotes the only holder in this JVM, within a conversion. */
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
            throw new IOException("cannot demote: a program other than Latchkey has locked the file");
        }
        try {
            kernel.demote();
            return put(owner, own.demoted());
        } finally {
            endConversion();
        }
    }

    /** Notifies holders of a loss first: until the conversion ends, no other process is admitted exclusively. */
    void endConversion() {
        try {
            dropIfLost();
        } finally {
            // Also if notifying throws, as when memory runs out: while CONVERSION is locked, nobody can acquire.
            kernel.endConversion();
            // If it cannot be unlocked, the holds are lost, too.
            dropIfLost();
        }
    }

    private Response put(Owner owner, Grant grant) {
        grants.put(owner, grant);
        return grant.answer();
    }

    /** Ends the hold; returns false if nothing was held. */
    boolean remove(Owner owner) {
        boolean wasHolder = grants.remove(owner) != null;
        releaseIfUnused();
        return wasHolder;
    }

    /** Ends all holds acquired by a name. Their holders are notified before another can hold the file. */
    void loseAll(ResourceFile name, LossReason reason) {
        lose(grant -> grant.name() == name, reason);
        releaseIfUnused();
    }

    private void lose(Predicate<Grant> which, LossReason reason) {
        List<Grant> ending = grants.values().stream().filter(which).toList();
        ending.forEach(grant -> grant.lose(reason));
        grants.values().removeAll(ending);
    }

    private void releaseIfUnused() {
        if (grants.isEmpty()) {
            kernel.release();
        }
    }

    /** A conversion that fails halfway may lose the hold it started with. */
    private void dropIfLost() {
        if (!kernel.isHeld()) {
            lose(grant -> true, LossReason.SESSION_LOST);
            kernel.closeIfBroken();
        }
    }
}
