package dev.latchkey;

import dev.latchkey.Hold.PendingRequest;
import dev.latchkey.HoldTracker.Acquired;
import dev.latchkey.LockListener.Operation;
import dev.latchkey.events.AcquireCall;
import dev.latchkey.events.AcquireCall.Outcome;
import dev.latchkey.events.StoreCall;
import dev.latchkey.spi.AsyncBlockingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * One acquire of a Lock that holds nothing, which needs no thread while it waits in the line of the store. It has the turn of
 * the Lock from its begin to its end, as a call that waits has.
 */
final class AsyncAcquire {

    /** A wait has to be longer than nothing; a grant that came too late may be repeated when its time is over. */
    private static final Duration SHORTEST_WAIT = Duration.ofNanos(1);

    private final FactoryContext context;
    private final LockEngine engine;
    private final Optional<AsyncBlockingStore> store;
    private final Executor threads;
    private final LockMode mode;
    private final Deadline end;
    private final CompletableFuture<Void> withdrawn;
    private final AcquireCall call;
    private final CompletableFuture<Acquired> result = new CompletableFuture<>();
    private int lateGrants;

    private AsyncAcquire(
            FactoryContext context,
            LockEngine engine,
            LockMode mode,
            Duration maxWait,
            CompletableFuture<Void> withdrawn) {
        this.context = context;
        this.engine = engine;
        this.store = context.store().capability(AsyncBlockingStore.class);
        this.threads = context.threads().asyncCalls().threads();
        this.mode = context.supported(mode);
        this.end = Deadline.in(maxWait);
        this.withdrawn = withdrawn;
        this.call = context.events().acquire(engine.state().resource(), mode);
    }

    /**
     * Starts an acquire, on a thread that may wait for other calls of the Lock: and for rivals, if the store needs a thread for
     * that, or the Lock holds something already.
     */
    static CompletionStage<Acquired> start(
            FactoryContext context,
            LockEngine engine,
            LockMode mode,
            Duration maxWait,
            CompletableFuture<Void> withdrawn)
            throws InterruptedException {
        context.checkOpen();
        AsyncAcquire acquire = new AsyncAcquire(context, engine, mode, maxWait, withdrawn);
        acquire.begin(maxWait.isZero());
        return acquire.result;
    }

    /** Lets go of what nobody wants that it was granted to, unless another call counts on it. Sends nobody away who waits. */
    static void giveBack(LockEngine engine, Optional<HoldTracker> granted) {
        engine.mutex.takeUninterruptibly();
        try {
            granted.filter(hold -> engine.state().isCurrent(hold) && hold.disclaim())
                    .ifPresent(unwanted -> engine.held().endUnwanted());
        } finally {
            engine.endTurn();
        }
    }

    private void begin(boolean triesOnce) throws InterruptedException {
        try {
            if (!engine.mutex.takeToWait(withdrawn, end)) {
                result.complete(new Acquired(engine.reported(call, Outcome.BUSY), Optional.empty()));
                return;
            }
            // In the turn: what another call was granted since is not to be asked for in a way that can be withdrawn.
            if (store.isEmpty() || triesOnce || engine.state().mayHold()) {
                result.complete(engine.acquireInTurn(mode, end, call, withdrawn));
                return;
            }
        } catch (InterruptedException | RuntimeException | Error e) {
            call.failed(e);
            throw e;
        }
        engine.held().active().waits();
        try {
            // Looked at again now that close() would find this wait.
            context.checkOpen();
            ask(store.get());
        } catch (RuntimeException | Error e) {
            fail(e);
        }
    }

    private void ask(AsyncBlockingStore asking) {
        long start = System.nanoTime();
        PendingRequest pending = engine.held().beginAcquire(mode);
        Request request = pending.request(mode, context.owner()).with(RetryIntent.AGAIN);
        StoreCall asked = context.events().storeCall(Operation.WAIT);
        var unused = waiting(asking, request).whenComplete((response, failure) -> {
            tell(asked, response);
            answered(asking, pending, response, failure, start);
        });
    }

    /** What is thrown at once is told as what is thrown later. */
    private CompletionStage<Response> waiting(AsyncBlockingStore asking, Request request) {
        try {
            return asking.waitAndSaveAsync(
                    request, LockSettings.max(end.remaining(), SHORTEST_WAIT), withdrawn, threads);
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private static void tell(StoreCall asked, @Nullable Response response) {
        try (asked) {
            if (response != null) {
                Response unused = asked.answered(response);
            }
        }
    }

    private void answered(
            AsyncBlockingStore asking,
            PendingRequest pending,
            @Nullable Response response,
            @Nullable Throwable failure,
            long start) {
        try {
            if (response == null) {
                Throwable cause = cause(failure);
                engine.notAnswered(pending, cause);
                fail(cause);
                return;
            }
            Outcome outcome = engine.settled(pending, mode, response, start);
            boolean isToRepeat =
                    outcome == Outcome.TOO_LATE && !withdrawn.isDone() && (!end.isOver() || lateGrants == 0);
            if (isToRepeat) {
                lateGrants++;
                ask(asking);
            } else {
                finish(outcome == Outcome.CONFLICTED && withdrawn.isDone() ? Outcome.WITHDRAWN : outcome);
            }
        } catch (RuntimeException | Error e) {
            fail(e);
        }
    }

    private static Throwable cause(@Nullable Throwable failure) {
        if (failure == null) {
            return new IllegalStateException("the store has completed a wait without an answer");
        }
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    private void finish(Outcome settled) {
        Outcome outcome = engine.reported(call, engine.endedIfClosed(false, settled));
        Acquired ended = new Acquired(outcome, engine.state().tracker());
        endTurn();
        result.complete(ended);
    }

    private void fail(Throwable failure) {
        call.failed(failure);
        endTurn();
        result.completeExceptionally(failure);
    }

    private void endTurn() {
        engine.held().active().waitEnds();
        engine.endTurn();
    }
}
