package dev.latchkey.testkit;

import dev.latchkey.Key;
import dev.latchkey.LossReason;
import dev.latchkey.spi.AsyncBlockingStore;
import dev.latchkey.spi.AsyncStore;
import dev.latchkey.spi.BlockingStore;
import dev.latchkey.spi.Durability;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.FencingStore;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.InspectableStore;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * A store that does as told, or fails as told, and records what it was asked.
 *
 * <pre>{@code
 * FaultyStore store = new FaultyStore(new InMemoryStore());
 * store.next(Operation.SAVE, Fault.replyLost());        // the next save happens, but its answer does not arrive
 * store.always(Operation.REFRESH, Fault.unreachable()); // until heal()
 * store.lose(lock.key(), LossReason.SESSION_LOST);      // the lost stage of that hold completes
 * assertThat(store.operations()).containsExactly(Operation.SAVE, Operation.DELETE);
 * }</pre>
 *
 * <p>It has the capabilities of the store it wraps. Every hold granted through it has a {@link Lease#lost()} stage, one
 * per hold. Thread-safe.
 */
public final class FaultyStore implements ExpiringStore, SharedStore, BlockingStore, FencingStore, InspectableStore {

    /** What a store can be asked. */
    public enum Operation {
        /** {@link PersistingStore#save}. */
        SAVE,
        /** {@link BlockingStore#waitAndSave}. */
        WAIT_AND_SAVE,
        /** {@link ExpiringStore#refresh}. */
        REFRESH,
        /** {@link PersistingStore#delete}. */
        DELETE,
        /** {@link PersistingStore#find}. */
        FIND,
        /** {@link FencingStore#raiseFence}. */
        RAISE_FENCE
    }

    /**
     * One call of the store.
     *
     * @param operation what was asked
     * @param key whose, with what it claimed to hold
     * @param request the request; empty for delete and find
     */
    public record Call(Operation operation, Key key, Optional<Request> request) {}

    private final PersistingStore store;
    private final Map<Operation, Queue<Fault>> once = new EnumMap<>(Operation.class);
    private final Map<Operation, Fault> always = new EnumMap<>(Operation.class);
    private final List<Call> calls = new CopyOnWriteArrayList<>();
    private final Map<String, CompletableFuture<LossReason>> losses = new ConcurrentHashMap<>();

    /**
     * Wraps a store. {@link #close()} closes it.
     *
     * @param store what answers when nothing is to go wrong
     */
    public FaultyStore(PersistingStore store) {
        this.store = store;
    }

    /**
     * Has something go wrong with the next call, once; told several times, with the calls after it, in order.
     *
     * @param operation which calls are counted
     * @param faults what goes wrong with the first, the second …
     * @return this
     */
    public FaultyStore next(Operation operation, Fault... faults) {
        synchronized (once) {
            once.computeIfAbsent(operation, any -> new ArrayDeque<>()).addAll(List.of(faults));
        }
        return this;
    }

    /**
     * Has something go wrong with every call until {@link #heal()}, except those that {@link #next} was told of.
     *
     * @param operation which calls
     * @param fault what goes wrong
     * @return this
     */
    public FaultyStore always(Operation operation, Fault fault) {
        synchronized (once) {
            always.put(operation, fault);
        }
        return this;
    }

    /** Forgets all faults that have not happened yet. */
    public void heal() {
        synchronized (once) {
            once.clear();
            always.clear();
        }
    }

    /**
     * Reports that a hold is lost, as a store does whose session ended. What the wrapped store holds does not change.
     *
     * @param key its holder
     * @param reason why
     * @return false if this key holds nothing through this store
     */
    public boolean lose(Key key, LossReason reason) {
        CompletableFuture<LossReason> lost = losses.remove(key.token());
        return lost != null && lost.complete(reason);
    }

    /**
     * Returns what was asked so far, in order, also the calls that failed.
     *
     * @return a snapshot
     */
    public List<Call> calls() {
        return List.copyOf(calls);
    }

    /**
     * Returns the operations of {@link #calls()}.
     *
     * @return a snapshot
     */
    public List<Operation> operations() {
        return calls.stream().map(Call::operation).toList();
    }

    /** Begins a new record of calls. */
    public void forgetCalls() {
        calls.clear();
    }

    @Override
    public Response save(Request request) {
        return granting(
                request, called(Operation.SAVE, request).response(request.key().resource(), () -> store.save(request)));
    }

    @Override
    public Response save(Request request, long proposal) {
        Fault fault = called(Operation.SAVE, request);
        return granting(
                request,
                fault.response(
                        request.key().resource(),
                        () -> wrapped(FencingStore.class).save(request, proposal)));
    }

    @Override
    public boolean raiseFence(Key key, long fence) {
        return called(new Call(Operation.RAISE_FENCE, key, Optional.empty()))
                .answer(key.resource(), () -> wrapped(FencingStore.class).raiseFence(key, fence));
    }

    @Override
    public Durability survives() {
        return wrapped(FencingStore.class).survives();
    }

    @Override
    public Response waitAndSave(Request request, Duration maxWait, CompletionStage<?> withdrawn)
            throws InterruptedException {
        Fault fault = called(Operation.WAIT_AND_SAVE, request);
        return granting(
                request,
                fault.response(
                        request.key().resource(),
                        () -> wrapped(BlockingStore.class).waitAndSave(request, maxWait, withdrawn)));
    }

    @Override
    public Response refresh(Request request) {
        Fault fault = called(Operation.REFRESH, request);
        return granting(
                request,
                fault.response(
                        request.key().resource(),
                        () -> wrapped(ExpiringStore.class).refresh(request)));
    }

    @Override
    public boolean delete(Key key) {
        boolean wasHolder = called(new Call(Operation.DELETE, key, Optional.empty()))
                .answer(key.resource(), () -> store.delete(key));
        losses.remove(key.token());
        return wasHolder;
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        return called(new Call(Operation.FIND, key, Optional.empty()))
                .answer(key.resource(), () -> store.find(key))
                .map(granted -> watched(key, granted));
    }

    @Override
    public List<Holder> holders(String resource) {
        return wrapped(InspectableStore.class).holders(resource);
    }

    /** {@inheritDoc} But for {@link AsyncStore} and {@link AsyncBlockingStore}: what goes wrong does so in a call that waits. */
    @Override
    public <T> Optional<T> capability(Class<T> type) {
        if (type == AsyncStore.class || type == AsyncBlockingStore.class) {
            return Optional.empty();
        }
        Optional<T> theirs = store.capability(type);
        return theirs.isPresent() && type.isInstance(this) ? Optional.of(type.cast(this)) : theirs;
    }

    @Override
    public void close() {
        store.close();
    }

    private <T> T wrapped(Class<T> type) {
        return store.capability(type)
                .orElseThrow(
                        () -> new UnsupportedOperationException("the wrapped store is no " + type.getSimpleName()));
    }

    private Fault called(Operation operation, Request request) {
        return called(new Call(operation, request.key(), Optional.of(request)));
    }

    private Fault called(Call call) {
        calls.add(call);
        synchronized (once) {
            Queue<Fault> queue = once.get(call.operation());
            @Nullable Fault next = queue == null ? null : queue.poll();
            return next != null ? next : always.getOrDefault(call.operation(), Fault.none());
        }
    }

    private Response granting(Request request, Response response) {
        return response instanceof Response.Granted granted ? watched(request.key(), granted) : response;
    }

    private Response.Granted watched(Key key, Response.Granted granted) {
        CompletableFuture<LossReason> lost = losses.computeIfAbsent(key.token(), token -> new CompletableFuture<>());
        granted.lease().lost().ifPresent(theirs -> theirs.thenAccept(lost::complete));
        Lease lease = granted.lease();
        return new Response.Granted(
                granted.mode(),
                granted.fencingToken(),
                new Lease(lease.since(), lease.ttl(), Optional.of(lost), lease.isLive()));
    }
}
