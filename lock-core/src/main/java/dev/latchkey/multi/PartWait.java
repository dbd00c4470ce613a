package dev.latchkey.multi;

import dev.latchkey.Key;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.BlockingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Waits for several resources, and never holds one while it waits for another: it stands in the store's line for the first one
 * that is held by others, and, when that is granted, tries to get the rest at once. If it cannot, it gives the one back, and
 * waits for the next one that is held.
 */
final class PartWait {

    private final BlockingStore queue;
    private final AllOrNone requests;

    PartWait(BlockingStore queue, AllOrNone requests) {
        this.queue = queue;
        this.requests = requests;
    }

    /** How a wait has ended. */
    record Result(Parts parts, BatchAttempt attempt) {}

    /**
     * Waits until everything is granted.
     *
     * @param first what the parts are blocked by
     */
    Result await(
            Request request, Parts parts, BatchAttempt.Conflicted first, Duration maxWait, CompletionStage<?> withdrawn)
            throws InterruptedException {
        long start = System.nanoTime();
        BatchAttempt.Conflicted conflict = first;
        // What each wait adds to its signal goes with that: the caller's may live for as long as all of them.
        AtomicReference<@Nullable CompletableFuture<Void>> waiting = new AtomicReference<>();
        withdrawn.thenRun(() -> Optional.ofNullable(waiting.get()).ifPresent(broken -> broken.complete(null)));
        while (true) {
            CompletableFuture<Void> broken = new CompletableFuture<>();
            waiting.set(broken);
            Duration rest = maxWait.minusNanos(System.nanoTime() - start);
            if (rest.isNegative()
                    || rest.isZero()
                    || withdrawn.toCompletableFuture().isDone()) {
                return new Result(parts, conflict);
            }
            int part = parts.firstOf(conflict.resources());
            Response response = waitFor(request.with(parts.keys().get(part)), rest, broken);
            if (!(response instanceof Response.Granted granted)) {
                return new Result(parts, conflict);
            }
            Parts holding = parts.holding(part, granted);
            BatchAttempt attempt = withTheRest(request, holding, part);
            if (attempt instanceof BatchAttempt.Granted) {
                return new Result(holding, attempt);
            }
            // Lost is the part that was waited for, whose lease may have been too short for the second request.
            conflict = attempt instanceof BatchAttempt.Conflicted again ? again : conflict;
        }
    }

    /** Gives back what may have been granted without an answer. */
    private Response waitFor(Request part, Duration rest, CompletionStage<?> withdrawn) throws InterruptedException {
        try {
            return queue.waitAndSave(part, rest, withdrawn);
        } catch (RuntimeException | Error e) {
            if (!AllOrNone.isUndone(e)) {
                giveBack(part.key(), e);
            }
            throw e;
        }
    }

    private BatchAttempt withTheRest(Request request, Parts holding, int part) {
        BatchAttempt attempt = null;
        Throwable failure = null;
        try {
            attempt = requests.save(holding.requests(request.with(RetryIntent.ONCE)));
            return attempt;
        } catch (RuntimeException | Error e) {
            failure = e;
            throw e;
        } finally {
            if (!(attempt instanceof BatchAttempt.Granted)) {
                giveBack(holding.keys().get(part), failure);
            }
        }
    }

    private void giveBack(Key part, @Nullable Throwable cause) {
        try {
            boolean unused = queue.delete(part);
        } catch (RuntimeException e) {
            if (cause == null) {
                throw e;
            }
            cause.addSuppressed(e);
        }
    }
}
