package dev.latchkey.spi;

import dev.latchkey.Key;
import java.util.List;

/**
 * A store that acquires several resources at once, all or none, in as few round trips as its backend allows.
 *
 * <p>A batch never waits, so two batches never wait for each other. The rules of {@link #save} apply to each resource. A
 * batch does not overtake waiters, and hands over what it releases as {@link #delete} does.
 */
public interface BatchStore extends PersistingStore {

    /**
     * Acquires, renews, promotes or demotes all resources, or changes nothing. Nobody sees a part of the change. If the
     * process or the backend dies during the call, either all or none of the resources are held.
     *
     * @param requests at most one for each resource; an empty list is granted
     * @return the result
     * @throws IllegalArgumentException if the backend cannot acquire these resources in one step; nothing was written
     */
    BatchAttempt saveAll(List<Request> requests);

    /**
     * Releases whatever the keys hold. A key that holds nothing does not prevent the release of the others.
     *
     * @param keys at most one for each resource
     * @return how many of the keys were holders, as {@link #delete} defines it
     * @throws IllegalArgumentException if the backend cannot release these resources in one step; nothing was written
     */
    int deleteAll(List<Key> keys);
}
