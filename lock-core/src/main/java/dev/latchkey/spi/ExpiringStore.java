package dev.latchkey.spi;

import java.util.List;

/** A store that ends a hold by itself when its TTL is over. */
public interface ExpiringStore extends PersistingStore {

    /**
     * Starts the TTL of a live hold again, shorter or longer than before; never acquires.
     *
     * @param request who wants it; the mode is that of the hold
     * @return {@link Attempt.Granted} with the new lease, or {@link Attempt.Lost}; never a conflict
     */
    Attempt refresh(Request request);

    /**
     * Does {@link #refresh} for many at once. A store whose backend can take many requests in one round trip overrides
     * this; one request that fails does not concern the others.
     *
     * @param requests who wants it, each for a hold of its own
     * @return what came of each, in their order
     */
    default List<Outcome> refreshAll(List<Request> requests) {
        return requests.stream()
                .map(request -> Outcome.of(() -> refresh(request)))
                .toList();
    }
}
