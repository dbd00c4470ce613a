package dev.latchkey.spi;

import java.time.Duration;
import java.util.List;

/** A store that ends a hold by itself when its TTL is over. */
public interface ExpiringStore extends PersistingStore {

    /**
     * Starts the TTL of an existing hold again. Never acquires, promotes or demotes. {@link Request#leaseChange()} says
     * whether the lease may end sooner than before.
     *
     * @param request the request; its mode is ignored, because it may be outdated
     * @return {@link Response.Granted} with the new lease, or {@link Response.Lost}; never a conflict
     */
    Response refresh(Request request);

    /**
     * Refreshes several holds at once, each as {@link #refresh} does. A store whose backend accepts several requests in
     * one round trip overrides this method. A request that fails does not affect the others.
     *
     * @param requests the requests, each for a different hold
     * @return the result of each request, in the same order
     */
    default List<RefreshResult> refreshAll(List<Request> requests) {
        return requests.stream()
                .map(request -> RefreshResult.of(() -> refresh(request)))
                .toList();
    }

    /**
     * Refreshes several holds at once, as {@link #refreshAll(List)} does, for a caller that cannot use late answers. A
     * store that can stop waiting overrides this method. Otherwise a store that hangs prevents its caller from renewing
     * anything else.
     *
     * @param requests the requests, each for a different hold
     * @param within for how long the caller can use the answers
     * @return the result of each request, in the same order; a failure for each request without an answer by then
     */
    default List<RefreshResult> refreshAll(List<Request> requests, Duration within) {
        return refreshAll(requests);
    }

    /**
     * Returns whether {@link #refreshAll} takes about as long as a single {@link #refresh}. If not, the core refreshes
     * one hold after the other: a request is in flight until it is answered, and a release of its hold has to wait for
     * that.
     *
     * @return false unless the store sends all requests before it waits for an answer; the same at each call
     */
    default boolean refreshesAtOnce() {
        return false;
    }
}
