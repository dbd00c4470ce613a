package dev.latchkey.spi;

import java.util.List;

/**
 * A store that can return the holders of a resource, for people who look into it. The result may be outdated when it is
 * read.
 */
public interface InspectableStore extends PersistingStore {

    /**
     * Returns the current holders of a resource, without an effect on anybody.
     *
     * @param resource the name of the resource
     * @return all holders that are visible, in no particular order; empty if the resource is free
     */
    List<Holder> holders(String resource);
}
