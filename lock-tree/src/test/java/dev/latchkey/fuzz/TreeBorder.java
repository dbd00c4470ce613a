package dev.latchkey.fuzz;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.BatchStore;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.IndexedBatchStore;
import dev.latchkey.spi.InspectableStore;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.spi.StateCheck;
import dev.latchkey.spi.StateIndex;
import dev.latchkey.store.InMemoryStore;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** The store as one editor of a tree sees it over a network, and what it can do. */
final class TreeBorder implements ExpiringStore, SharedStore, IndexedBatchStore, InspectableStore {

    /** How many the store takes at once, and what it can tell. */
    enum Reach {
        /** All with their state indexes. */
        ALL_AT_ONCE,
        /** All, and the indexes after that. */
        INDEXES_AFTER,
        ONE_BY_ONE,
        /** One by one, and nobody can look who holds it. */
        BLINDLY
    }

    private final World world;
    private final InMemoryStore store;
    private final Network network;
    private final Reach reach;
    private final Ledger ledger;

    TreeBorder(World world, InMemoryStore store, int faultIn, Reach reach, Ledger ledger) {
        this.world = world;
        this.store = store;
        this.network = new Network(world, faultIn);
        this.reach = reach;
        this.ledger = ledger;
    }

    @Override
    public <T> Optional<T> capability(Class<T> type) {
        boolean isMissing = (type == IndexedBatchStore.class && reach != Reach.ALL_AT_ONCE)
                || (type == BatchStore.class && reach.compareTo(Reach.ONE_BY_ONE) >= 0)
                || (type == InspectableStore.class && reach == Reach.BLINDLY);
        return isMissing ? Optional.empty() : ExpiringStore.super.capability(type);
    }

    @Override
    public Response save(Request request) {
        return ask(
                "save " + request.mode(), List.of(request.key()), givesNothingUp(request), () -> store.save(request));
    }

    @Override
    public BatchAttempt saveAll(List<Request> requests) {
        return askAll("save", requests, () -> store.saveAll(requests));
    }

    @Override
    public BatchAttempt saveAll(List<Request> requests, StateCheck check) {
        return askAll("check " + check.known() + " and save", requests, () -> store.saveAll(requests, check));
    }

    private BatchAttempt askAll(String operation, List<Request> requests, Supplier<BatchAttempt> effect) {
        return ask(
                operation + " " + requests.stream().map(Request::mode).toList(),
                keys(requests),
                requests.stream().allMatch(TreeBorder::givesNothingUp),
                effect);
    }

    /** What was answered comes again only if it cannot demote what was promoted since. */
    private static boolean givesNothingUp(Request request) {
        return request.mode() == LockMode.EXCLUSIVE;
    }

    @Override
    public Response refresh(Request request) {
        return ask(
                "refresh",
                List.of(request.key()),
                request.leaseChange() == LeaseChange.EXTEND,
                () -> store.refresh(request));
    }

    @Override
    public List<RefreshResult> refreshAll(List<Request> requests) {
        if (reach.compareTo(Reach.ONE_BY_ONE) >= 0) {
            return ExpiringStore.super.refreshAll(requests);
        }
        try {
            boolean mayRepeat = requests.stream().allMatch(request -> request.leaseChange() == LeaseChange.EXTEND);
            return ask("refresh", keys(requests), mayRepeat, () -> store.refreshAll(requests));
        } catch (LockStorageException e) {
            return requests.stream()
                    .<RefreshResult>map(request -> new RefreshResult.Failed(e))
                    .toList();
        }
    }

    @Override
    public boolean refreshesAtOnce() {
        return reach.compareTo(Reach.ONE_BY_ONE) < 0;
    }

    @Override
    public boolean delete(Key key) {
        boolean wasHeld = ask("delete", List.of(key), false, () -> store.delete(key));
        ledger.deleted(List.of(key));
        return wasHeld;
    }

    @Override
    public int deleteAll(List<Key> keys) {
        int held = ask("delete", keys, false, () -> store.deleteAll(keys));
        ledger.deleted(keys);
        return held;
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        return ask("find", List.of(key), true, () -> store.find(key));
    }

    @Override
    public List<Holder> holders(String resource) {
        return ask("holders of " + resource, List.of(), true, () -> store.holders(resource));
    }

    @Override
    public Map<String, StateIndex> indexes(Collection<String> resources) {
        return ask("indexes of " + resources, List.of(), true, () -> store.indexes(resources));
    }

    @Override
    public void raise(Map<String, StateIndex> raised) {
        boolean unused = ask("raise " + raised, List.of(), true, () -> {
            store.raise(raised);
            return true;
        });
    }

    private static List<Key> keys(List<Request> requests) {
        return requests.stream().map(Request::key).toList();
    }

    private <T> T ask(String operation, List<Key> keys, boolean mayRepeat, Supplier<T> effect) {
        Network.Fate fate = network.fate(mayRepeat);
        String resource = keys.isEmpty() ? "indexes" : keys.get(0).resource();
        String about =
                world.isTraced() ? keys.stream().map(Network::shown).toList().toString() : "";
        world.note("-> " + operation + " " + about);
        ledger.sent(keys, fate);
        try {
            world.mayPause();
            return network.carry(new Network.Message(operation, resource, about), fate, effect);
        } finally {
            ledger.isOver();
        }
    }
}
