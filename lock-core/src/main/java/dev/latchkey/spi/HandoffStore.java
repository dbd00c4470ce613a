package dev.latchkey.spi;

import dev.latchkey.Key;
import java.util.Optional;

/**
 * A store that can end one key's exclusive hold and start another key's hold in one step. A release with a waiter in the
 * same JVM then costs one round trip instead of two. Waiters in other processes have precedence.
 */
public interface HandoffStore extends PersistingStore {

    /**
     * Returns whether {@link #handOff} can have an effect now.
     *
     * @return false while the capabilities of the backend are not known yet, or if the backend cannot tell whether others
     *     wait
     */
    boolean canHandOff();

    /**
     * Ends the exclusive hold of one key and grants it to another one, with a greater fencing token, unless others wait
     * for the resource elsewhere. The caller never repeats the call after a lost reply: either of the two keys may be the
     * holder then.
     *
     * @param from the holder, with the exclusive hold that it claims
     * @param next the request of the next exclusive holder, which claims no hold
     * @return the grant; empty if nothing was changed, because others wait or {@code from} is no longer the holder
     */
    Optional<Response.Granted> handOff(Key from, Request next);
}
