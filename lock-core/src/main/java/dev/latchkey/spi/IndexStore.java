package dev.latchkey.spi;

import java.util.Collection;
import java.util.Map;

/**
 * Remembers with which change each resource was last given up, so that nobody takes it who does not know that change.
 * What it remembers never gets less and does not end with a lease.
 *
 * <p>Thread-safe. Each method may throw {@link dev.latchkey.LockStorageException}.
 */
public interface IndexStore {

    /**
     * Looks up what is remembered. Writes nothing.
     *
     * @param resources which
     * @return by resource; those that nothing is remembered of are left out
     */
    Map<String, StateIndex> indexes(Collection<String> resources);

    /**
     * Remembers the greater of each number and what is remembered already. All or nothing is not promised; done twice it
     * comes to the same.
     *
     * @param indexes by resource
     */
    void raise(Map<String, StateIndex> indexes);
}
