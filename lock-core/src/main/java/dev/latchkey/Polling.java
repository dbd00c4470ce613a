package dev.latchkey;

import dev.latchkey.spi.Attempt;
import dev.latchkey.spi.Patience;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Wakeup;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One wait at a place in a line: asks the store whenever it is the place's turn, with growing pauses, or pauses until the
 * store tells when to ask. It listens from its first question on: whoever is passed a hold before that needs no watch.
 */
final class Polling implements AutoCloseable {

    private final PersistingStore store;
    private final Supplier<Wakeup> watch;
    private final Place place;
    private final Backoff backoff = new Backoff();
    private @Nullable Wakeup wakeup;

    Polling(PersistingStore store, Supplier<Wakeup> watch, Place place) {
        this.store = store;
        this.watch = watch;
        this.place = place;
    }

    /**
     * Waits for what is passed to the place, or an answer of the store that is no conflict.
     *
     * @param hint when the store expects the conflict to end that was met before
     * @return a conflict if the wait is over, or was withdrawn
     */
    Attempt await(Duration hint, Deadline end) throws InterruptedException {
        long pauseNanos = backoff.nextNanos(hint);
        while (place.awaitTurn(pauseNanos, end)) {
            Attempt attempt = place.passed().orElseGet(this::ask);
            if (!(attempt instanceof Attempt.Conflicted conflict)) {
                return attempt;
            }
            pauseNanos = pauseNanos(conflict.retryAfter());
        }
        return Attempt.Conflicted.NO_HINT;
    }

    private Attempt ask() {
        if (wakeup == null) {
            wakeup = watch.get();
        }
        CompletionStage<?> mayBeFree = wakeup.next();
        Attempt attempt = store.save(place.request().with(Patience.AGAIN));
        if (attempt instanceof Attempt.Conflicted) {
            mayBeFree.thenRun(place::tryNow);
        }
        return attempt;
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
