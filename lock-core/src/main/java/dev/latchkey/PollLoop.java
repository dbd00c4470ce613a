package dev.latchkey;

import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.ReleaseSubscription;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One wait at a place in a line: asks the store whenever it is the place's turn, with growing pauses, or pauses until the
 * store tells when to ask. It listens from its first question on: whoever is passed a hold before that needs no watch.
 */
final class PollLoop implements AutoCloseable {

    private final PersistingStore store;
    private final Supplier<ReleaseSubscription> watch;
    private final LocalWaiter waiter;
    private final Backoff backoff = new Backoff();
    private @Nullable ReleaseSubscription wakeup;

    PollLoop(PersistingStore store, Supplier<ReleaseSubscription> watch, LocalWaiter waiter) {
        this.store = store;
        this.watch = watch;
        this.waiter = waiter;
    }

    /**
     * Waits for what is passed to the place, or an answer of the store that is no conflict.
     *
     * @param hint when the store expects the conflict to end that was met before
     * @return a conflict if the wait is over, or was withdrawn
     */
    Response await(Duration hint, Deadline end) throws InterruptedException {
        long pauseNanos = backoff.nextNanos(hint);
        while (waiter.awaitTurn(pauseNanos, end)) {
            Response response = waiter.passed().orElseGet(this::ask);
            if (!(response instanceof Response.Conflicted conflict)) {
                return response;
            }
            pauseNanos = pauseNanos(conflict.retryAfter());
        }
        return Response.Conflicted.NO_HINT;
    }

    private Response ask() {
        if (wakeup == null) {
            wakeup = watch.get();
        }
        CompletionStage<?> mayBeFree = wakeup.next();
        Response response = store.save(waiter.request().with(RetryIntent.AGAIN));
        if (response instanceof Response.Conflicted) {
            mayBeFree.thenRun(waiter::tryNow);
        }
        return response;
    }

    private long pauseNanos(Duration hint) {
        return wakeup != null && wakeup.isWatching() ? backoff.watchedNanos(hint) : backoff.nextNanos(hint);
    }

    @Override
    public void close() {
        if (wakeup != null) {
            wakeup.close();
        }
    }
}
