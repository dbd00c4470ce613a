package dev.latchkey.spi;

import dev.latchkey.Key;
import java.util.List;

/**
 * A store that takes many resources at once, all or nothing, in as few round trips as its backend allows.
 *
 * <p>No two batches wait for each other: a batch never waits. It keeps to the rules of {@link #save} for each resource,
 * overtakes nobody who waits, and hands over what it gives up as {@link #delete} does.
 */
public interface BatchStore extends PersistingStore {

    /**
     * Takes, renews, promotes or demotes all, or changes nothing. Nobody sees a part of it; when the process or the
     * backend dies in between, all of it is held or nothing.
     *
     * @param requests at most one for each resource; an empty list is granted
     * @return what came of it
     * @throws IllegalArgumentException if the backend cannot take these resources in one step; nothing was written
     */
    BatchAttempt saveAll(List<Request> requests);

    /**
     * Gives up whatever the keys hold. A key that holds nothing does not keep the others from being given up.
     *
     * @param keys at most one for each resource
     * @return how many of them were the holder, as {@link #delete} tells
     * @throws IllegalArgumentException if the backend cannot give these resources up in one step; nothing was written
     */
    int deleteAll(List<Key> keys);
}
