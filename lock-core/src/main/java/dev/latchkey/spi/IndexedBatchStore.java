package dev.latchkey.spi;

import java.util.List;

/** A store that keeps holds and state indexes in one place, and checks both in one step. */
public interface IndexedBatchStore extends BatchStore, IndexStore {

    /**
     * Acquires, renews, promotes or demotes all resources as {@link #saveAll(List)} does, unless the caller does not know
     * the last changes of one of them.
     *
     * @param requests at most one for each resource; all are checked
     * @param check what the caller knows
     * @return the result; {@link BatchAttempt.Stale} only if no hold of another key conflicts
     * @throws IllegalArgumentException if the backend cannot acquire these resources in one step; nothing was written
     */
    BatchAttempt saveAll(List<Request> requests, StateCheck check);
}
