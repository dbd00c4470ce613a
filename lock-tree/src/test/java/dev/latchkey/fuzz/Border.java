package dev.latchkey.fuzz;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.BlockingStore;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The store as one factory sees it over a network. Between a request, its effect and the answer others go on; the answer may be
 * lost, and the request come late, or twice.
 */
final class Border implements ExpiringStore, SharedStore, BlockingStore {

    /** Who wants to know what is asked. */
    interface Listener {
        void sent(Border border, String operation, Key key);

        /** The answer is null if none came. */
        void answered(@Nullable Object answer);

        /** A request that nobody waits for has taken the resource exclusively, whatever the key held. */
        void takenLate(Key key);
    }

    private final World world;
    private final InMemoryStore store;
    private final Listener listener;
    private final boolean blocks;
    private final Network network;

    /** Of the calls, one in so many meets a fault; none if zero. */
    Border(World world, InMemoryStore store, Listener listener, boolean blocks, int faultIn) {
        this.world = world;
        this.store = store;
        this.listener = listener;
        this.blocks = blocks;
        this.network = new Network(world, faultIn);
    }

    @Override
    public <T> Optional<T> capability(Class<T> type) {
        return type == BlockingStore.class && !blocks ? Optional.empty() : ExpiringStore.super.capability(type);
    }

    @Override
    public Response save(Request request) {
        return call("save " + request.mode(), request.key(), network.fate(mayRepeat(request)), () -> saved(request));
    }

    private Response saved(Request request) {
        Response response = store.save(request);
        if (world.isArriving()
                && response instanceof Response.Granted granted
                && granted.mode() == LockMode.EXCLUSIVE) {
            listener.takenLate(request.key());
        }
        return response;
    }

    @Override
    public Response refresh(Request request) {
        String operation =
                "refresh " + request.leaseChange() + " " + request.ttl().toMillis() + " ms";
        return call(
                operation,
                request.key(),
                network.fate(request.leaseChange() == LeaseChange.EXTEND),
                () -> store.refresh(request));
    }

    @Override
    public boolean delete(Key key) {
        return call("delete", key, network.fate(false), () -> store.delete(key));
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        return call("find", key, network.fate(true), () -> store.find(key));
    }

    @Override
    public Response waitAndSave(Request request, Duration maxWait, CompletionStage<?> withdrawn)
            throws InterruptedException {
        String operation = "wait " + request.mode() + " " + maxWait.toMillis() + " ms";
        Key key = request.key();
        Network.Fate fate = network.fate(false);
        begin(operation, key);
        try {
            if (fate == Network.Fate.NEVER_ARRIVES || fate == Network.Fate.NOT_SENT) {
                throw network.failure(key.resource(), fate);
            }
            Response response = waited(() -> store.waitAndSave(request, maxWait, withdrawn));
            world.note("   " + operation + " -> " + response);
            world.mayPause();
            if (fate != Network.Fate.ANSWERED) {
                throw network.failure(key.resource(), fate);
            }
            listener.answered(response);
            return response;
        } catch (InterruptedException | RuntimeException e) {
            listener.answered(null);
            throw e;
        }
    }

    private static Response waited(Callable<Response> wait) throws InterruptedException {
        try {
            return wait.call();
        } catch (InterruptedException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * A request that can give something up is not sent again once it was answered: that is promised to the core. An old one to
     * share would demote what was promoted since.
     */
    private static boolean mayRepeat(Request request) {
        return request.mode() == LockMode.EXCLUSIVE;
    }

    private <T> T call(String operation, Key key, Network.Fate fate, Supplier<T> effect) {
        begin(operation, key);
        String about = world.isTraced() ? Network.shown(key) : "";
        try {
            T answer = network.carry(new Network.Message(operation, key.resource(), about), fate, effect);
            listener.answered(answer);
            return answer;
        } catch (RuntimeException e) {
            listener.answered(null);
            throw e;
        }
    }

    private void begin(String operation, Key key) {
        if (world.isTraced()) {
            world.note("-> " + operation + " " + Network.shown(key));
        }
        try {
            listener.sent(this, operation, key);
        } catch (Violation e) {
            // Not thrown to the engine, which would take it for a failure of the store.
            world.fail(e);
        }
        world.mayPause();
    }
}
