package dev.latchkey.store;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.Durability;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.FencingStore;
import dev.latchkey.spi.ForceReleaseStore;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.IndexedBatchStore;
import dev.latchkey.spi.ListedResource;
import dev.latchkey.spi.ListingStore;
import dev.latchkey.spi.PermitStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.ProcessBound;
import dev.latchkey.spi.QueuedWaiter;
import dev.latchkey.spi.RecallableStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.ResourcePage;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SemaphoreStore;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.spi.StateCheck;
import dev.latchkey.spi.StateIndex;
import dev.latchkey.spi.StoreProvider;
import dev.latchkey.spi.WaiterListingStore;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A store that keeps holds in the memory of this process, for tests and for work within a single process. It follows the
 * rules for stores exactly, and is the model with which the other stores are compared.
 *
 * <p>Waiters are served in FIFO order, consecutive readers together; a waiting promoter comes first. Leases end by
 * {@link System#nanoTime()}. Fencing tokens start at 1 in each instance. Instances are independent of one another. State
 * indexes are kept until {@link #close()}.
 *
 * <p>Thread-safe.
 */
public final class InMemoryStore
        implements RecallableStore,
                ExpiringStore,
                SharedStore,
                FencingStore,
                ListingStore,
                WaiterListingStore,
                ForceReleaseStore,
                IndexedBatchStore,
                SemaphoreStore,
                ProcessBound {

    static final String REASON = "the in-memory store keeps it in this process alone";

    private static final int STRIPES = 64;

    /** How long an ended lease is remembered, so that a late release can tell whether the resource changed hands. */
    private static final Duration RETENTION = Duration.ofMinutes(1);

    private final Stripe[] stripes;
    private final Map<String, StateIndex> indexes = new ConcurrentHashMap<>();
    private final SemaphoreTable semaphores = new SemaphoreTable();

    /** Creates an empty store. */
    public InMemoryStore() {
        this(RETENTION);
    }

    InMemoryStore(Duration retention) {
        stripes = IntStream.range(0, STRIPES)
                .mapToObj(number -> new Stripe(number, retention.toNanos()))
                .toArray(Stripe[]::new);
    }

    @Override
    public Response save(Request request) {
        return stripe(request.key().resource()).save(request, 0);
    }

    @Override
    public Response save(Request request, long proposal) {
        return stripe(request.key().resource()).save(request, proposal);
    }

    @Override
    public boolean raiseFence(Key key, long fence) {
        return stripe(key.resource()).raiseFence(key, fence);
    }

    /** {@inheritDoc} An instance that can be asked has everything it has ever known. */
    @Override
    public Durability survives() {
        return Durability.EVERYTHING;
    }

    @Override
    public Response waitAndSave(Request request, Duration maxWait, CompletionStage<?> withdrawn)
            throws InterruptedException {
        return stripe(request.key().resource()).waitAndSave(request, maxWait, withdrawn);
    }

    @Override
    public Response refresh(Request request) {
        return stripe(request.key().resource()).refresh(request);
    }

    @Override
    public boolean delete(Key key) {
        return stripe(key.resource()).delete(key);
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        return stripe(key.resource()).find(key);
    }

    @Override
    public List<Holder> holders(String resource) {
        return stripe(resource).holders(resource);
    }

    @Override
    public List<QueuedWaiter> waiters(String resource) {
        return stripe(resource).waiters(resource);
    }

    /** {@inheritDoc} Here it is the order of {@link String#compareTo}. */
    @Override
    public ResourcePage list(String prefix, Optional<String> after, int limit) {
        TreeSet<String> names = new TreeSet<>();
        for (Stripe stripe : stripes) {
            stripe.addHeld(prefix, after, names);
            while (names.size() > limit + 1) {
                names.pollLast();
            }
        }
        List<String> page = names.stream().limit(limit).toList();
        List<ListedResource> listed = page.stream()
                .flatMap(name -> stripe(name).listed(name).stream())
                .toList();
        return new ResourcePage(listed, names.size() > limit ? Optional.of(page.get(limit - 1)) : Optional.empty());
    }

    /** {@inheritDoc} Here it is told at once. */
    @Override
    public boolean forceRelease(String resource, long fencingToken) {
        return stripe(resource).forceRelease(resource, fencingToken);
    }

    @Override
    public BatchAttempt saveAll(List<Request> requests) {
        return saveAll(requests, Optional.empty());
    }

    @Override
    public BatchAttempt saveAll(List<Request> requests, StateCheck check) {
        return saveAll(requests, Optional.of(check));
    }

    private BatchAttempt saveAll(List<Request> requests, Optional<StateCheck> check) {
        return new Batch(requests.stream().map(Request::key).toList(), this::stripe)
                .alone(batch -> batch.saveAll(requests, check, indexes));
    }

    @Override
    public int deleteAll(List<Key> keys) {
        return new Batch(keys, this::stripe).alone(batch -> batch.deleteAll(keys));
    }

    @Override
    public Map<String, StateIndex> indexes(Collection<String> resources) {
        Map<String, StateIndex> found = new HashMap<>(indexes);
        found.keySet().retainAll(Set.copyOf(resources));
        return found;
    }

    @Override
    public void raise(Map<String, StateIndex> raised) {
        raised.forEach((resource, index) -> indexes.merge(resource, index, StateIndex::raisedTo));
    }

    /** {@inheritDoc} Those who wait for permits are served in FIFO order. */
    @Override
    public PermitStore permits() {
        return semaphores;
    }

    @Override
    public String reason() {
        return REASON;
    }

    /**
     * Forgets all holds and fails all waits. Every later call except {@code delete} and {@code find} throws a
     * {@link LockStorageException}.
     */
    @Override
    public void close() {
        for (Stripe stripe : stripes) {
            stripe.close();
        }
        semaphores.close();
        indexes.clear();
    }

    /** How many resources are held, waited for, or expired not long ago. */
    int size() {
        return Stream.of(stripes).mapToInt(Stripe::size).sum();
    }

    private Stripe stripe(String resource) {
        int hash = resource.hashCode();
        return stripes[(hash ^ (hash >>> 16)) & (STRIPES - 1)];
    }

    /** Opens {@code in-memory}: a new, empty store each time. */
    public static final class Provider implements StoreProvider {

        /** Called by {@link java.util.ServiceLoader}. */
        public Provider() {}

        @Override
        public Set<String> schemes() {
            return Set.of("in-memory");
        }

        @Override
        public PersistingStore open(String dsn) {
            if (!dsn.equals("in-memory")) {
                throw new IllegalArgumentException("an in-memory store has no address: its DSN is \"in-memory\"");
            }
            return new InMemoryStore();
        }
    }
}
