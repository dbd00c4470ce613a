package dev.latchkey.spi;

import dev.latchkey.Key;
import java.util.Optional;

/**
 * A store that keeps holds. These methods are the minimum; a store without further capabilities is polled.
 *
 * <p>Thread-safe. A store never changes a {@link Key} and makes no callbacks. It keeps the state of holds that are bound
 * to this process in the instance, by {@link Key#token()}. Each method throws a {@link dev.latchkey.LockStorageException}
 * if the backend failed or did not answer, and an {@link IllegalArgumentException}, before anything is written, if the
 * backend does not support the TTL. If the thread's interrupt flag is set, the call works and keeps the flag.
 */
public interface PersistingStore extends AutoCloseable {

    /**
     * Acquires, renews, promotes or demotes in one round trip and without waiting.
     *
     * <p>If the key already holds the resource in the requested mode, the hold is renewed: the TTL starts now, and the
     * fencing token stays the same. A shared hold is promoted if it is the only one. An exclusive hold is demoted only
     * by a {@link Request#isDemotion() request that claims it}: any other request to share is answered with the exclusive
     * hold, renewed. Neither has a gap in which another key could acquire the resource. None of these ends the lease
     * sooner, unless {@link Request#leaseChange()} says so. If the request claims a hold that does not exist, the answer is
     * {@link Response.Lost} and nothing is acquired.
     *
     * @param request the request
     * @return the answer
     */
    Response save(Request request);

    /**
     * Releases whatever the key holds. The core never repeats the call after a lost reply.
     *
     * @param key the holder
     * @return true if the key was the holder, even if its lease had just ended and nobody else has held the resource
     *     since, unless the backend forgets a hold with its lease; false if it was not
     */
    boolean delete(Key key);

    /**
     * Returns whether a request of this key that gives something up may still take effect later, although its call did
     * not fail. Such a request could end a new hold of this key, so the caller then acquires with another key. Sends no
     * request.
     *
     * @param key a key that holds nothing
     * @return false if every call that may have left such a request behind has failed
     */
    default boolean isSpent(Key key) {
        return false;
    }

    /**
     * Returns what this key, and no other, holds now. Writes nothing.
     *
     * @param key the owner
     * @return its hold with the rest of its lease; empty if it holds nothing
     */
    Optional<Response.Granted> find(Key key);

    /**
     * Returns this store as a type with a further capability. Call this method instead of {@code instanceof}: a
     * decorator, a dialect or a combination of stores may have fewer or more capabilities than its class.
     *
     * @param type an interface of this package
     * @param <T> the interface
     * @return the store to use for the capability; empty if there is none
     */
    default <T> Optional<T> capability(Class<T> type) {
        return type.isInstance(this) ? Optional.of(type.cast(this)) : Optional.empty();
    }

    /** Closes what the store itself opened. Holds that are bound to this process end. Idempotent. */
    @Override
    default void close() {}
}
