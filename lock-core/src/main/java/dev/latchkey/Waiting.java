package dev.latchkey;

import dev.latchkey.spi.Attempt;
import dev.latchkey.spi.BlockingStore;
import dev.latchkey.spi.NotifyingStore;
import dev.latchkey.spi.PassingStore;
import dev.latchkey.spi.Patience;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Wakeup;
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
final class Waiting {

    private final PersistingStore store;
    private final Optional<BlockingStore> blocking;
    private final Optional<NotifyingStore> notifying;
    private final Optional<PassingStore> passing;
    private final Gate gate;

    Waiting(PersistingStore store, Gate gate) {
        this.store = store;
        this.blocking = store.capability(BlockingStore.class);
        this.notifying = store.capability(NotifyingStore.class);
        this.passing = store.capability(PassingStore.class);
        this.gate = gate;
    }

    Attempt save(Request request, Deadline end, CompletableFuture<?> withdrawn) throws InterruptedException {
        if (blocking.isPresent()) {
            Duration maxWait = end.remaining();
            return maxWait.isZero()
                    ? store.save(request)
                    : blocking.get().waitAndSave(request.with(Patience.AGAIN), maxWait, withdrawn);
        }
        return isPromoter(request)
                ? pollInLine(request, end, withdrawn, new Gate())
                : pollInLine(request, end, withdrawn, gate);
    }

    /**
     * Ends a hold. Who is next in line here is passed it, if the store can do that and nobody elsewhere waits for it; or
     * is woken, for there is no need to pause any longer.
     */
    boolean release(Key key) {
        String resource = key.resource();
        Optional<Place> next = canPass(key) ? gate.choose(resource) : Optional.empty();
        if (next.isPresent()) {
            return pass(key, next.get()) || deleteForOthers(key);
        }
        boolean wasOurs = store.delete(key);
        if (blocking.isEmpty()) {
            gate.released(resource);
        }
        return wasOurs;
    }

    /** A lease ends sooner than those in line were told: the head asks again, and learns when. */
    void shortened(String resource) {
        if (blocking.isEmpty()) {
            gate.released(resource);
        }
    }

    private boolean deleteForOthers(Key key) {
        boolean wasOurs = store.delete(key);
        gate.releasedForOthers(key.resource());
        return wasOurs;
    }

    private boolean canPass(Key key) {
        boolean isExclusive =
                key.held().filter(held -> held.mode() == LockMode.EXCLUSIVE).isPresent();
        return isExclusive && passing.filter(PassingStore::canPass).isPresent();
    }

    private boolean pass(Key key, Place next) {
        try {
            Optional<Attempt.Granted> granted = passing.orElseThrow().pass(key, next.request());
            granted.ifPresentOrElse(next::pass, next::passNothing);
            return granted.isPresent();
        } catch (RuntimeException | Error e) {
            next.leaveInDoubt();
            throw e;
        }
    }

    private Attempt pollInLine(Request request, Deadline end, CompletableFuture<?> withdrawn, Gate line)
            throws InterruptedException {
        String resource = request.key().resource();
        Duration hint = Duration.ZERO;
        if (!line.hasLine(resource)) {
            Attempt first = store.save(request.with(end.isOver() ? Patience.ONCE : Patience.AGAIN));
            if (!(first instanceof Attempt.Conflicted conflict) || end.isOver()) {
                return first;
            }
            hint = conflict.retryAfter();
        }
        try (Place place = line.join(request, withdrawn);
                Polling polling = new Polling(store, () -> watch(request), place)) {
            Attempt attempt = polling.await(hint, end);
            if (!(attempt instanceof Attempt.Conflicted)) {
                place.granted(request.mode());
                return attempt;
            }
        }
        return withdrawn.isDone() ? Attempt.Conflicted.NO_HINT : store.save(request.with(Patience.ONCE));
    }

    /** A promoter is not told: it has to ask anyway, to keep its mark in the store from lapsing. */
    private Wakeup watch(Request request) {
        return isPromoter(request)
                ? Wakeup.never()
                : notifying.map(store -> store.watch(request.key().resource())).orElse(Wakeup.never());
    }

    private static boolean isPromoter(Request request) {
        return request.key().held().isPresent();
    }
}
