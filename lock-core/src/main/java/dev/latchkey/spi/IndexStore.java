package dev.latchkey.spi;

import java.util.Collection;
import java.util.Map;

/**
 * A store that keeps, for each resource, the number of the last change with which it was released, so that nobody who
 * does not know this change acquires the resource. The numbers never decrease and do not end with a lease.
 *
 * <p>Thread-safe. Each method throws {@link dev.latchkey.LockStorageException} if the store failed or did not answer.
 */
public interface IndexStore {

    /**
     * Returns the numbers of resources. Writes nothing.
     *
     * @param resources the names of the resources
     * @return the numbers by resource, without resources that have none
     */
    Map<String, StateIndex> indexes(Collection<String> resources);

    /**
     * Raises the numbers of resources: the greater of each given and each stored number is stored. The call is not atomic
     * for several resources. It is idempotent.
     *
     * @param indexes the numbers by resource
     */
    void raise(Map<String, StateIndex> indexes);
}
