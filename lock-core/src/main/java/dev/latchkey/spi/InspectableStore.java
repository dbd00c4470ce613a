package dev.latchkey.spi;

import java.util.List;

/** A store that can tell who holds a resource, for people who look into it: what it says may be over by now. */
public interface InspectableStore extends PersistingStore {

    /**
     * Looks up who holds a resource, without disturbing anybody.
     *
     * @param resource what is protected
     * @return all holders as far as they can be seen, in no order; empty if the resource is free
     */
    List<Holder> holders(String resource);
}
