package dev.latchkey.spi;

import java.util.Optional;

/** A store that can list what is held, for people who look into it. */
public interface ListingStore extends InspectableStore {

    /** The largest number of resources of one page. */
    int MAX_PAGE = 1_000;

    /**
     * Lists resources that are held, without an effect on anybody, one page at a time in an order that does not change.
     *
     * <p>A resource that is held from the first page to the last is listed exactly once, however many others are acquired
     * and released meanwhile.
     *
     * @param prefix what the names of the resources start with, compared by character: valid Unicode; empty for all
     * @param after {@link ResourcePage#next()} of the page before; empty for the first page
     * @param limit the largest number of resources to return: from 1 to {@link #MAX_PAGE}
     * @return the page
     */
    ResourcePage list(String prefix, Optional<String> after, int limit);
}
