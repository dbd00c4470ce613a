package dev.latchkey.fuzz;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.Attempt;
import dev.latchkey.spi.BlockingStore;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.LeaseChange;
import dev.latchkey.spi.Request;
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
    }

    private enum Fate {
        ANSWERED,
        ANSWER_LOST,
        NEVER_ARRIVES,
        ARRIVES_LATE,
        ARRIVES_NOW_AND_LATE,
        NOT_SENT,
        ANSWERED_AND_LATE
    }

    private static final Fate[] FATES = Fate.values();

    private final World world;
    private final InMemoryStore store;
    private final Listener listener;
    private final boolean blocks;
    private final int faultIn;

    /** Of the calls, one in so many meets a fault; none if zero. */
    Border(World world, InMemoryStore store, Listener listener, boolean blocks, int faultIn) {
        this.world = world;
        this.store = store;
        this.listener = listener;
        this.blocks = blocks;
        this.faultIn = faultIn;
    }

    @Override
    public <T> Optional<T> capability(Class<T> type) {
        return type == BlockingStore.class && !blocks ? Optional.empty() : ExpiringStore.super.capability(type);
    }

    @Override
    public Attempt save(Request request) {
        return call("save " + request.mode(), request.key(), fate(mayRepeat(request)), () -> store.save(request));
    }

    @Override
    public Attempt refresh(Request request) {
        String operation =
                "refresh " + request.leaseChange() + " " + request.ttl().toMillis() + " ms";
        return call(
                operation,
                request.key(),
                fate(request.leaseChange() == LeaseChange.EXTEND),
                () -> store.refresh(request));
    }

    @Override
    public boolean delete(Key key) {
        return call("delete", key, fate(false), () -> store.delete(key));
    }

    @Override
    public Optional<Attempt.Granted> find(Key key) {
        return call("find", key, fate(true), () -> store.find(key));
    }

    @Override
    public Attempt waitAndSave(Request request, Duration maxWait, CompletionStage<?> withdrawn)
            throws InterruptedException {
        String operation = "wait " + request.mode() + " " + maxWait.toMillis() + " ms";
        Key key = request.key();
        Fate fate = fate(false);
        begin(operation, key);
        try {
            if (fate == Fate.NEVER_ARRIVES || fate == Fate.NOT_SENT) {
                throw failure(key, fate);
            }
            Attempt attempt = waited(() -> store.waitAndSave(request, maxWait, withdrawn));
            world.note("   " + operation + " -> " + attempt);
            world.mayPause();
            if (fate != Fate.ANSWERED) {
                throw failure(key, fate);
            }
            listener.answered(attempt);
            return attempt;
        } catch (InterruptedException | RuntimeException e) {
            listener.answered(null);
            throw e;
        }
    }

    private static Attempt waited(Callable<Attempt> wait) throws InterruptedException {
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

    private Fate fate(boolean mayRepeat) {
        if (faultIn == 0 || !world.oneIn(faultIn)) {
            return Fate.ANSWERED;
        }
        Fate fate = FATES[world.draw(FATES.length)];
        return fate == Fate.ANSWERED_AND_LATE && !mayRepeat ? Fate.ANSWERED : fate;
    }

    private <T> T call(String operation, Key key, Fate fate, Supplier<T> effect) {
        begin(operation, key);
        try {
            T answer = carriedOut(operation, key, fate, effect);
            listener.answered(answer);
            return answer;
        } catch (RuntimeException e) {
            listener.answered(null);
            throw e;
        }
    }

    private void begin(String operation, Key key) {
        if (world.isTraced()) {
            world.note("-> " + operation + " " + shown(key));
        }
        try {
            listener.sent(this, operation, key);
        } catch (Violation e) {
            // Not thrown to the engine, which would take it for a failure of the store.
            world.fail(e);
        }
        world.mayPause();
    }

    private <T> T carriedOut(String operation, Key key, Fate fate, Supplier<T> effect) {
        Runnable arrival = () -> applied(operation + " (late)", key, effect);
        @Nullable T answer = null;
        if (fate == Fate.ARRIVES_LATE) {
            world.late(arrival);
        } else if (fate != Fate.NEVER_ARRIVES && fate != Fate.NOT_SENT) {
            answer = applied(operation, key, effect);
            if (fate == Fate.ARRIVES_NOW_AND_LATE || fate == Fate.ANSWERED_AND_LATE) {
                world.late(arrival);
            }
        }
        world.mayPause();
        if (answer == null || (fate != Fate.ANSWERED && fate != Fate.ANSWERED_AND_LATE)) {
            throw failure(key, fate);
        }
        return answer;
    }

    private <T> T applied(String operation, Key key, Supplier<T> effect) {
        T answer = effect.get();
        if (world.isTraced()) {
            world.note("   " + operation + " " + shown(key) + " -> " + answer);
        }
        return answer;
    }

    private LockStorageException failure(Key key, Fate fate) {
        world.note("   " + fate);
        return new LockStorageException(
                key.resource(),
                fate.name(),
                null,
                fate == Fate.NOT_SENT ? LockStorageException.Failure.NOT_SENT : LockStorageException.Failure.IN_DOUBT);
    }

    private static String shown(Key key) {
        return key.resource() + "/" + key.token().substring(0, 4)
                + key.held()
                        .map(held -> " as " + held.mode() + " " + held.fencingToken())
                        .orElse("");
    }
}
