package dev.latchkey.fuzz;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.AsyncStore;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.RecallableStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * The store as the process of one factory sees it over a network: requests are lost, come late or twice, and so do recalls. The
 * process may die: nothing it sends arrives any more.
 */
final class RecallBorder implements RecallableStore, ExpiringStore, SharedStore, AsyncStore {

    private final World world;
    private final InMemoryStore store;
    private final Network network;
    private final int faultIn;
    private final int mishapIn;
    private final boolean isAsync;
    private final Plant plant;
    private boolean dead;
    private boolean renews;

    /** What is wrong with the store, for who judges the judge. */
    record Plant(int leaseFactor, Optional<DenseTokens> tokens, boolean recalls) {
        static final Plant NOTHING = new Plant(1, Optional.empty(), true);
    }

    /**
     * Creates the way of one process to the store.
     *
     * @param faultIn of the messages, one in so many meets a fault; none if zero
     */
    RecallBorder(World world, InMemoryStore store, int faultIn, Plant plant) {
        this.world = world;
        this.store = store;
        this.network = new Network(world, faultIn);
        this.faultIn = faultIn;
        this.mishapIn = faultIn == 0 && world.oneIn(2) ? 1 + world.draw(4) : 0;
        this.isAsync = world.oneIn(2);
        this.plant = plant;
    }

    void dies() {
        dead = true;
    }

    boolean isDead() {
        return dead;
    }

    /** Whether it has asked for more of what it held, and would not keep: that may come late, when it is lost already. */
    boolean hasRenewed() {
        return renews;
    }

    @Override
    public Response save(Request request) {
        boolean mayRepeat = request.mode() == LockMode.EXCLUSIVE;
        return call(
                "save " + request.mode(),
                request.key(),
                mayRepeat,
                () -> answered(request, store.save(asked(request))));
    }

    @Override
    public Response refresh(Request request) {
        boolean mayRepeat = request.leaseChange() == LeaseChange.EXTEND;
        Response response = call(
                "refresh " + request.leaseChange() + " " + request.ttl().toMillis() + " ms",
                request.key(),
                mayRepeat,
                () -> answered(request, store.refresh(asked(request))));
        if (request.isSticky() && meetsMishap()) {
            throw network.failure(request.key().resource(), Network.Fate.ANSWER_LOST);
        }
        return response;
    }

    @Override
    public boolean delete(Key key) {
        return call("delete", key, false, () -> store.delete(key));
    }

    @Override
    public CompletionStage<Boolean> deleteAsync(Key key) {
        String about = world.isTraced() ? Network.shown(key) : "";
        world.note("-> delete, not waited for " + about);
        Network.Fate fate = dead || meetsMishap() ? Network.Fate.NOT_SENT : network.fate(false);
        return network.send(new Network.Message("delete", key.resource(), about), fate, () -> store.delete(key));
    }

    @Override
    public CompletionStage<Response> saveAsync(Request request, long proposal) {
        throw new UnsupportedOperationException("sticky locks do not acquire in this way");
    }

    @Override
    public <T> Optional<T> capability(Class<T> type) {
        return type == AsyncStore.class && !isAsync ? Optional.empty() : ExpiringStore.super.capability(type);
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        return call(
                "find",
                key,
                true,
                () -> store.find(plant.tokens().map(tokens -> tokens.asked(key)).orElse(key)));
    }

    @Override
    public Response waitAndSave(Request request, Duration maxWait, CompletionStage<?> withdrawn)
            throws InterruptedException {
        Network.Fate fate = begin("wait " + request.mode() + " " + maxWait.toMillis() + " ms", request.key(), false);
        if (!fate.arrivesNow()) {
            throw network.failure(request.key().resource(), fate);
        }
        Response response = answered(request, store.waitAndSave(asked(request), maxWait, withdrawn));
        world.note("   wait -> " + response);
        world.mayPause();
        if (!fate.isAnswered() || dead) {
            throw network.failure(request.key().resource(), Network.Fate.ANSWER_LOST);
        }
        return response;
    }

    private Request asked(Request request) {
        // What is kept is known here, and given back whenever that is asked for.
        renews |= request.key().held().isPresent() && !request.isSticky();
        return plant.tokens().map(tokens -> tokens.asked(request)).orElse(request);
    }

    private Response answered(Request request, Response response) {
        return recalled(plant.tokens()
                .map(tokens -> tokens.shown(request.key(), response))
                .orElse(response));
    }

    /** The answer with a recall that comes over the network as well: late, or not at all. */
    private Response recalled(Response response) {
        if (!(response instanceof Response.Granted granted)) {
            return response;
        }
        Lease lease = granted.lease();
        CompletableFuture<Void> arrived = new CompletableFuture<>();
        lease.recalled().ifPresent(recalled -> recalled.thenRun(() -> send(arrived)));
        if (faultIn > 0 && world.oneIn(20 * faultIn)) {
            // Of a hold before, which is meant no more.
            world.late(() -> arrived.complete(null));
        }
        Duration ttl = lease.ttl().multipliedBy(plant.leaseFactor());
        return new Response.Granted(
                granted.mode(),
                granted.fencingToken(),
                new Lease(
                        lease.since(),
                        ttl,
                        lease.lost(),
                        lease.isLive(),
                        lease.recalled().map(recalled -> arrived)));
    }

    private void send(CompletableFuture<Void> arrived) {
        if (dead || !plant.recalls() || (faultIn > 0 && world.oneIn(faultIn))) {
            world.note("   a recall is lost");
        } else {
            world.late(() -> {
                if (!dead) {
                    world.note("   a recall arrives");
                    arrived.complete(null);
                }
            });
        }
    }

    private <T> T call(String operation, Key key, boolean mayRepeat, Supplier<T> effect) {
        Network.Fate fate = begin(operation, key, mayRepeat);
        String about = world.isTraced() ? Network.shown(key) : "";
        return network.carry(new Network.Message(operation, key.resource(), about), fate, effect);
    }

    private Network.Fate begin(String operation, Key key, boolean mayRepeat) {
        if (world.isTraced()) {
            world.note("-> " + operation + " " + Network.shown(key));
        }
        world.mayPause();
        return dead ? Network.Fate.NOT_SENT : network.fate(mayRepeat);
    }

    /** What a process makes good by itself, so that nobody waits in vain for it. */
    private boolean meetsMishap() {
        return mishapIn > 0 && world.oneIn(mishapIn);
    }
}
