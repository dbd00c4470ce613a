package dev.latchkey.spi;

import dev.latchkey.Key;
import java.util.Optional;

/**
 * A store that can end one key's exclusive hold and begin another's in one step: a release for which somebody of this JVM
 * already waits then costs one round trip instead of two. Those who wait elsewhere come first.
 */
public interface HandoffStore extends PersistingStore {

    /**
     * Tells whether {@link #handOff} may do anything now.
     *
     * @return false while it is not known what the backend can do, or where it cannot tell whether others wait
     */
    boolean canHandOff();

    /**
     * Ends the exclusive hold of one key and grants it to another, with a greater fencing token, unless others wait for
     * it elsewhere. Never retried after a lost reply: either of the two may hold it then.
     *
     * @param from the holder, with the exclusive hold it claims
     * @param next who is to hold it exclusively; claims no hold
     * @return what was granted; empty if nothing was changed: others wait, or {@code from} no longer holds it
     */
    Optional<Response.Granted> handOff(Key from, Request next);
}
