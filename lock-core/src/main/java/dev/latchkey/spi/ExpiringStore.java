package dev.latchkey.spi;

import java.time.Duration;
import java.util.List;

/** A store that ends a hold by itself when its TTL is over. */
public interface ExpiringStore extends PersistingStore {

    /**
     * Starts the TTL of a live hold again; never acquires, promotes or demotes. Whether the lease may end sooner than before is
     * said by {@link Request#leaseChange()}.
     *
     * @param request who wants it; its mode is not looked at, for it may be out of date
     * @return {@link Response.Granted} with the new lease, or {@link Response.Lost}; never a conflict
     */
    Response refresh(Request request);

    /**
     * Does {@link #refresh} for many at once. A store whose backend can take many requests in one round trip overrides
     * this; one request that fails does not concern the others.
     *
     * @param requests who wants it, each for a hold of its own
     * @return what came of each, in their order
     */
    default List<RefreshResult> refreshAll(List<Request> requests) {
        return requests.stream()
                .map(request -> RefreshResult.of(() -> refresh(request)))
                .toList();
    }

    /**
     * Does {@link #refreshAll(List)} for a caller to whom a later answer is of no use. A store that can give up waiting
     * overrides this: else one that hangs keeps its caller from renewing anything else.
     *
     * @param requests as there
     * @param within how long the answers are of use
     * @return as there; a failure for each request that was not answered by then
     */
    default List<RefreshResult> refreshAll(List<Request> requests, Duration within) {
        return refreshAll(requests);
    }

    /**
     * Tells whether {@link #refreshAll} takes about as long as one {@link #refresh}. If not, it is asked for one hold after the
     * other: what is asked for is in flight until it is answered, and a release has to wait for that.
     *
     * @return false unless the store sends all requests before it waits for an answer; the same each time
     */
    default boolean refreshesAtOnce() {
        return false;
    }
}
