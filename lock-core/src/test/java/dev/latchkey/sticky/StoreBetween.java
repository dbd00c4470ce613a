package dev.latchkey.sticky;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.AsyncStore;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.RecallableStore;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** The in-memory store with something that happens between its answers and who asks. */
final class StoreBetween implements RecallableStore, ExpiringStore, SharedStore, AsyncStore {

    private final InMemoryStore store = new InMemoryStore();

    /** What an answer to a renewal becomes. */
    volatile UnaryOperator<Response> onRefresh = UnaryOperator.identity();

    /** What an answer to an acquire becomes. */
    volatile UnaryOperator<Response> onSave = UnaryOperator.identity();

    /** What comes of a release that nobody waits for; empty if nobody can ask so. */
    volatile Optional<Supplier<CompletionStage<Boolean>>> onDeleteAsync = Optional.empty();

    /** What happens to a release before it comes to the store. */
    volatile Runnable onDelete = () -> {};

    /** What the holder may use after what it is granted. */
    volatile long reserved = Long.MAX_VALUE;

    static LockStorageException noAnswer() {
        return new LockStorageException("x", "no answer", null);
    }

    static LockStorageException notSent() {
        return new LockStorageException("x", "no connection", null, LockStorageException.Failure.NOT_SENT);
    }

    InMemoryStore below() {
        return store;
    }

    @Override
    public long reservedTokens(Request request) {
        return Math.min(reserved, request.reservedTokens());
    }

    @Override
    public Response save(Request request) {
        return onSave.apply(store.save(request));
    }

    @Override
    public Response waitAndSave(Request request, Duration maxWait, CompletionStage<?> withdrawn)
            throws InterruptedException {
        return store.waitAndSave(request, maxWait, withdrawn);
    }

    @Override
    public Response refresh(Request request) {
        return onRefresh.apply(store.refresh(request));
    }

    @Override
    public List<RefreshResult> refreshAll(List<Request> requests) {
        return requests.stream()
                .<RefreshResult>map(request -> new RefreshResult.Answered(refresh(request)))
                .toList();
    }

    @Override
    public boolean delete(Key key) {
        onDelete.run();
        return store.delete(key);
    }

    @Override
    public CompletionStage<Boolean> deleteAsync(Key key) {
        return onDeleteAsync.orElseThrow().get();
    }

    @Override
    public CompletionStage<Response> saveAsync(Request request, long proposal) {
        return CompletableFuture.completedFuture(store.save(request, proposal));
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        return store.find(key);
    }

    @Override
    public <T> Optional<T> capability(Class<T> type) {
        return type == AsyncStore.class && onDeleteAsync.isEmpty()
                ? Optional.empty()
                : ExpiringStore.super.capability(type);
    }
}
