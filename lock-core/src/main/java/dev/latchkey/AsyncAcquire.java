package dev.latchkey;

import dev.latchkey.Hold.PendingRequest;
import dev.latchkey.LockListener.Operation;
import dev.latchkey.events.AcquireCall;
import dev.latchkey.events.AcquireCall.Outcome;
import dev.latchkey.events.StoreCall;
import dev.latchkey.spi.AsyncBlockingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
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
    private final AsyncBlockingStore store;
    private final Executor threads;
    private final LockMode mode;
    private final Deadline end;
    private final CompletableFuture<Void> withdrawn;
    private final Consumer<@Nullable HoldTracker> inTurn;
    private final AcquireCall call;
    private final CompletableFuture<Outcome> result = new CompletableFuture<>();
    private int lateGrants;

    private AsyncAcquire(
            FactoryContext context,
            LockEngine engine,
            AsyncBlockingStore store,
            LockMode mode,
            Duration maxWait,
            CompletableFuture<Void> withdrawn,
            Consumer<@Nullable HoldTracker> inTurn) {
        this.context = context;
        this.engine = engine;
        this.store = store;
        this.threads = context.threads().asyncCalls().threads();
        this.mode = context.supported(mode);
        this.end = Deadline.in(maxWait);
        this.withdrawn = withdrawn;
        this.inTurn = inTurn;
        this.call = context.events().acquire(engine.state().resource(), mode);
    }

    /**
     * Starts an acquire, on a thread that may wait for other calls of the Lock: and for rivals, if the store needs a thread for
     * that, or the Lock holds something already.
     *
     * @param inTurn gets what was granted, if the acquire was granted something
     */
    static CompletionStage<Outcome> start(
            FactoryContext context,
            LockEngine engine,
            LockMode mode,
            Duration maxWait,
            CompletableFuture<Void> withdrawn,
            Consumer<@Nullable HoldTracker> inTurn)
            throws InterruptedException {
        AsyncBlockingStore store =
                context.store().capability(AsyncBlockingStore.class).orElse(null);
        if (store == null || maxWait.isZero() || engine.state().mayHold()) {
            return CompletableFuture.completedFuture(engine.acquire(mode, maxWait, withdrawn, inTurn));
        }
        context.checkOpen();
        AsyncAcquire acquire = new AsyncAcquire(context, engine, store, mode, maxWait, withdrawn, inTurn);
        acquire.begin();
        return acquire.result;
    }

    private void begin() throws InterruptedException {
        if (!engine.mutex.takeToWait(withdrawn, end)) {
            result.complete(engine.reported(call, Outcome.BUSY));
            return;
        }
        if (engine.state().mayHold()) {
            // Another call was granted it since: what is held is not to be asked for in a way that can be withdrawn.
            engine.endTurn();
            result.complete(engine.acquire(mode, end.remaining(), withdrawn, inTurn));
            return;
        }
        engine.held().active().waits();
        try {
            // Looked at again now that close() would find this wait.
            context.checkOpen();
            ask();
        } catch (RuntimeException | Error e) {
            fail(e);
        }
    }

    private void ask() {
        long start = System.nanoTime();
        PendingRequest pending = engine.held().beginAcquire(mode);
        Request request = pending.request(mode, context.owner()).with(RetryIntent.AGAIN);
        StoreCall asked = context.events().storeCall(Operation.WAIT);
        var unused = waiting(request).whenComplete((response, failure) -> {
            tell(asked, response);
            answered(pending, response, failure, start);
        });
    }

    /** What is thrown at once is told as what is thrown later. */
    private CompletionStage<Response> waiting(Request request) {
        try {
            return store.waitAndSaveAsync(
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
            PendingRequest pending, @Nullable Response response, @Nullable Throwable failure, long start) {
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
                ask();
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
        inTurn.accept(engine.held().claimed());
        endTurn();
        result.complete(outcome);
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
