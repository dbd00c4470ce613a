package dev.latchkey;

import dev.latchkey.spi.BlockingStore;
import dev.latchkey.spi.HandoffStore;
import dev.latchkey.spi.NotifyingStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.ReleaseSubscription;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Waits for a grant: in the store's own queue where it has one, else by asking again.
 *
 * <p>Asking again: whoever holds something already (a promoter) asks for itself, since those in line may wait for it.
 * Anybody else tries once if there is no line, joins it, asks as its head with growing pauses, and when the wait is over
 * tries a last time past the gate. Where the store tells when to ask, the head pauses until then.
 */
final class AcquireLoop {

    private final PersistingStore store;
    private final Optional<BlockingStore> blocking;
    private final Optional<NotifyingStore> notifying;
    private final Optional<HandoffStore> handoff;
    private final LocalWaitQueue waitQueue;

    AcquireLoop(PersistingStore store, LocalWaitQueue waitQueue) {
        this.store = store;
        this.blocking = store.capability(BlockingStore.class);
        this.notifying = store.capability(NotifyingStore.class);
        this.handoff = store.capability(HandoffStore.class);
        this.waitQueue = waitQueue;
    }

    Response save(Request request, Deadline end, CompletableFuture<?> withdrawn) throws InterruptedException {
        if (blocking.isPresent()) {
            Duration maxWait = end.remaining();
            return maxWait.isZero()
                    ? store.save(request)
                    : blocking.get().waitAndSave(request.with(RetryIntent.AGAIN), maxWait, withdrawn);
        }
        return isPromoter(request)
                ? pollInLine(request, end, withdrawn, new LocalWaitQueue())
                : pollInLine(request, end, withdrawn, waitQueue);
    }

    /**
     * Ends a hold. Who is next in line here is passed it, if the store can do that and nobody elsewhere waits for it; or
     * is woken, for there is no need to pause any longer.
     */
    boolean release(Key key) {
        String resource = key.resource();
        Optional<LocalWaiter> next = canHandOff(key) ? waitQueue.choose(resource) : Optional.empty();
        if (next.isPresent()) {
            return handOff(key, next.get()) || deleteForOthers(key);
        }
        boolean wasOurs = store.delete(key);
        if (blocking.isEmpty()) {
            waitQueue.released(resource);
        }
        return wasOurs;
    }

    /** A lease ends sooner than those in line were told: the head asks again, and learns when. */
    void shortened(String resource) {
        if (blocking.isEmpty()) {
            waitQueue.released(resource);
        }
    }

    private boolean deleteForOthers(Key key) {
        boolean wasOurs = store.delete(key);
        waitQueue.releasedForOthers(key.resource());
        return wasOurs;
    }

    private boolean canHandOff(Key key) {
        boolean isExclusive =
                key.held().filter(held -> held.mode() == LockMode.EXCLUSIVE).isPresent();
        return isExclusive && handoff.filter(HandoffStore::canHandOff).isPresent();
    }

    private boolean handOff(Key key, LocalWaiter next) {
        try {
            Optional<Response.Granted> granted = handoff.orElseThrow().handOff(key, next.request());
            granted.ifPresentOrElse(next::handOff, next::passNothing);
            return granted.isPresent();
        } catch (RuntimeException | Error e) {
            next.leaveInDoubt();
            throw e;
        }
    }

    private Response pollInLine(Request request, Deadline end, CompletableFuture<?> withdrawn, LocalWaitQueue line)
            throws InterruptedException {
        String resource = request.key().resource();
        Duration hint = Duration.ZERO;
        if (!line.hasLine(resource)) {
            Response first = store.save(request.with(end.isOver() ? RetryIntent.ONCE : RetryIntent.AGAIN));
            if (!(first instanceof Response.Conflicted conflict) || end.isOver()) {
                return first;
            }
            hint = conflict.retryAfter();
        }
        try (LocalWaiter waiter = line.join(request, withdrawn);
                PollLoop polling = new PollLoop(store, () -> watch(request), waiter)) {
            Response response = polling.await(hint, end);
            if (!(response instanceof Response.Conflicted)) {
                waiter.granted(request.mode());
                return response;
            }
        }
        return withdrawn.isDone() ? Response.Conflicted.NO_HINT : store.save(request.with(RetryIntent.ONCE));
    }

    /** A promoter is not told: it has to ask anyway, to keep its mark in the store from lapsing. */
    private ReleaseSubscription watch(Request request) {
        return isPromoter(request)
                ? ReleaseSubscription.never()
                : notifying.map(store -> store.watch(request.key().resource())).orElse(ReleaseSubscription.never());
    }

    private static boolean isPromoter(Request request) {
        return request.key().held().isPresent();
    }
}
