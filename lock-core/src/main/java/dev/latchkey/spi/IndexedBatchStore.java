package dev.latchkey.spi;

import java.util.List;

/** A store that keeps holds and state indexes in one place, and looks at both in one step. */
public interface IndexedBatchStore extends BatchStore, IndexStore {

    /**
     * As {@link #saveAll(List)}, unless the caller does not know enough of one of the resources.
     *
     * @param requests as {@link #saveAll(List)}; all are checked
     * @param check what the caller knows
     * @return what came of it; {@link BatchAttempt.Stale} only if nobody else's hold is in the way
     * @throws IllegalArgumentException as {@link #saveAll(List)}
     */
    BatchAttempt saveAll(List<Request> requests, StateCheck check);
}
