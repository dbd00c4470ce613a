package dev.latchkey;

import dev.latchkey.spi.Attempt;
import dev.latchkey.spi.Patience;
import dev.latchkey.spi.Request;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks the store for a hold, and turns its answer into a transition of the {@link HoldState}. */
final class Acquisition {

    /** How it ended. */
    enum Outcome {
        GRANTED,
        CONFLICTED,
        REFUSED,
        WITHDRAWN,
        /** Granted, but the lease was over when the answer came; it was given back. */
        TOO_LATE
    }

    @FunctionalInterface
    private interface Ask<X extends Exception> {
        Attempt ask(Request request) throws X;
    }

    private static final Logger log = LoggerFactory.getLogger(Lock.class);

    private final Backend backend;
    private final LockSettings settings;
    private final HoldState state;
    private final Vigil vigil;

    Acquisition(Backend backend, LockSettings settings, HoldState state, Vigil vigil) {
        this.backend = backend;
        this.settings = settings;
        this.state = state;
        this.vigil = vigil;
    }

    Outcome once(LockMode wanted) {
        return take(backend.supported(wanted), backend.store()::save);
    }

    Outcome waiting(LockMode wanted, Deadline end, CompletableFuture<Void> withdrawn) throws InterruptedException {
        LockMode mode = backend.supported(wanted);
        Outcome outcome;
        do {
            outcome = takeWaiting(mode, end, withdrawn);
        } while (outcome == Outcome.TOO_LATE && !end.isOver() && !withdrawn.isDone());
        return outcome == Outcome.CONFLICTED && withdrawn.isDone() ? Outcome.WITHDRAWN : outcome;
    }

    /** What may have been passed here by a release that was not answered was given back: the wait goes on without it. */
    private Outcome takeWaiting(LockMode mode, Deadline end, CompletableFuture<Void> withdrawn)
            throws InterruptedException {
        while (true) {
            try {
                return take(mode, request -> saveOrWait(request, end, withdrawn));
            } catch (Place.InDoubtException e) {
                if (end.isOver() || withdrawn.isDone()) {
                    return Outcome.CONFLICTED;
                }
            }
        }
    }

    /** A holder that renews or demotes waits for nobody. */
    private Attempt saveOrWait(Request request, Deadline end, CompletableFuture<Void> withdrawn)
            throws InterruptedException {
        return holdsEnough(request.key(), request.mode())
                ? backend.store().save(request)
                : backend.waiting().save(request, end, withdrawn);
    }

    private static boolean holdsEnough(Key key, LockMode wanted) {
        return key.held()
                .map(held -> held.mode() == LockMode.EXCLUSIVE || wanted == LockMode.SHARED)
                .orElse(false);
    }

    private <X extends Exception> Outcome take(LockMode mode, Ask<X> ask) throws X {
        long start = log.isDebugEnabled() ? System.nanoTime() : 0;
        vigil.noticeExpiry();
        Claim claim = state.claim(mode, settings.ttl());
        Duration ttl = settings.bounded(settings.ttl(), claim.watch());
        Attempt attempt = ask(claim, new Request(claim.key(), mode, ttl, Patience.ONCE), ask);
        if (attempt instanceof Attempt.Granted granted) {
            return granted(claim, granted, start);
        }
        if (attempt instanceof Attempt.Lost lost) {
            throw vigil.lost(claim, lost.reason(), "it was no longer held when it was asked for again");
        }
        if (holdsEnough(claim.key(), mode)) {
            throw vigil.lost(claim, LossReason.TAKEN_OVER, "another key held it when it was asked for again");
        }
        if (log.isDebugEnabled()) {
            log.debug("lock.conflicted resource={} mode={}", LockException.shown(state.resource()), mode);
        }
        return attempt instanceof Attempt.Refused ? Outcome.REFUSED : Outcome.CONFLICTED;
    }

    private <X extends Exception> Attempt ask(Claim claim, Request request, Ask<X> ask) throws X {
        try {
            return ask.ask(request);
        } catch (IllegalArgumentException e) {
            throw e;
        } catch (RuntimeException e) {
            if (claim.isFresh()) {
                giveBack(claim.key(), e);
            }
            throw e;
        }
    }

    private Outcome granted(Claim claim, Attempt.Granted granted, long start) {
        Hold hold = Hold.of(granted);
        if (hold.isOver()) {
            if (claim.isFresh()) {
                giveBack(claim.key(), null);
                return Outcome.TOO_LATE;
            }
            throw vigil.lost(claim, LossReason.EXPIRED, "its lease was over before the store had answered");
        }
        vigil.noticeExpiry();
        Optional<LossReason> loss = claim.isFresh() ? Optional.empty() : state.loss();
        if (loss.isPresent()) {
            giveBack(claim.key(), null);
            throw vigil.lost(claim, loss.get(), "what was held was over before the store had answered");
        }
        vigil.adopt(claim, hold, Thread.currentThread());
        if (log.isDebugEnabled()) {
            log.debug(
                    "lock.acquired resource={} mode={} fencingToken={} ttlMs={} waitedMs={}",
                    LockException.shown(state.resource()),
                    hold.mode(),
                    hold.fencingToken(),
                    settings.ttl().toMillis(),
                    (System.nanoTime() - start) / 1_000_000);
        }
        return Outcome.GRANTED;
    }

    /** Ends what an unanswered or late grant may have left. The token is not used again, whatever comes of it. */
    private void giveBack(Key key, @Nullable RuntimeException cause) {
        try {
            backend.store().delete(key);
        } catch (RuntimeException e) {
            Optional.ofNullable(cause).filter(first -> first != e).ifPresent(first -> first.addSuppressed(e));
        } finally {
            state.renewKey();
        }
    }
}
