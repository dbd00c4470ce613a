package dev.latchkey.spi;

import dev.latchkey.Key;
import java.util.Optional;

/**
 * Where holds are kept. The least a store must be able to do; a polling store of a third party needs nothing else.
 *
 * <p>Thread-safe. A store never changes a {@link Key}, calls nobody back, and keeps the state of holds that are bound to
 * this process in the instance, by {@link Key#token()}. Each method may throw
 * {@link dev.latchkey.LockStorageException} when the backend failed or did not answer, and
 * {@link IllegalArgumentException}, before anything is written, for a TTL the backend cannot keep. Called by a thread
 * whose interrupt flag is set, it works and keeps the flag.
 */
public interface PersistingStore extends AutoCloseable {

    /**
     * Takes, renews, promotes or demotes, in one round trip and without waiting.
     *
     * <p>A key that already holds in the mode asked for is renewed: TTL from now, same fencing token. A shared hold is
     * promoted when it is the only one, an exclusive hold is demoted, both without a gap in which another could get in.
     * None of these ends the lease sooner than it would end, unless {@link Request#leaseChange()} says so.
     * When the request claims a hold that is not there, the answer is {@link Response.Lost} and nothing is taken.
     *
     * @param request who wants what
     * @return what came of it
     */
    Response save(Request request);

    /**
     * Gives up whatever the key holds. Never retried by the core after a lost reply.
     *
     * @param key the holder
     * @return true if the key was the holder, also when its lease had just ended and nobody else has held the resource
     *     since, unless the backend forgets a hold with its lease; false if it was not
     */
    boolean delete(Key key);

    /**
     * Whether something that this key gave up may still be given up later, though the call did not fail: then what it takes anew
     * could be ended by that, and who is to take something takes another key. Asks nobody.
     *
     * @param key one that holds nothing
     * @return false if every call that may have left such a request behind has failed
     */
    default boolean isSpent(Key key) {
        return false;
    }

    /**
     * Looks up what this key, and no other, holds now. Writes nothing.
     *
     * @param key the holder in question
     * @return its hold with the rest of its lease; empty if it holds nothing
     */
    Optional<Response.Granted> find(Key key);

    /**
     * Returns this store as something it can do. Ask this, never {@code instanceof}: a decorator, a dialect or a
     * combination of stores may have fewer capabilities than its class, or more.
     *
     * @param type an interface of this package
     * @param <T> the same
     * @return the store to use for it; empty if it cannot do that
     */
    default <T> Optional<T> capability(Class<T> type) {
        return type.isInstance(this) ? Optional.of(type.cast(this)) : Optional.empty();
    }

    /** Ends what the store itself opened. Holds bound to this process end with it. Idempotent. */
    @Override
    default void close() {}
}
