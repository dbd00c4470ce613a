package dev.latchkey.sticky;

import dev.latchkey.Key;
import dev.latchkey.LossReason;
import dev.latchkey.spi.BlockingStore;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.RecallableStore;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.threads.FactoryThreads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * Shows a store to sticky Locks as one that keeps what they release, so that the next of them which acquires it asks nobody. The
 * store knows what they hold under keys that none of them has: here the key of a request is that of a Lock, below it that of the
 * hold. A request that is not sticky passes as it is. Thread-safe.
 */
public final class StickyStore implements ExpiringStore, BlockingStore, SharedStore {

    private final RecallableStore store;
    private final Optional<ExpiringStore> leases;
    private final StickyLines lines = new StickyLines();
    private final LineReleases releases;
    private final LineCalls calls;
    private final IdleReleases idleReleases;

    /**
     * Creates a view of a store for the sticky Locks of one factory.
     *
     * @param store keeps the holds
     * @param threads of the factory: they release what was recalled
     */
    public StickyStore(RecallableStore store, FactoryThreads threads) {
        this.store = store;
        this.leases = store.capability(ExpiringStore.class);
        this.releases = new LineReleases(store, threads);
        this.calls = new LineCalls(store, lines, releases, new RecallListener(releases, threads));
        this.idleReleases = new IdleReleases(releases);
    }

    /**
     * Releases what is kept and not used. From now on nothing is kept. Works with the interrupt flag set, and keeps it. Not to be
     * called by two threads at once.
     */
    public void releaseIdle() {
        lines.close();
        idleReleases.release(lines);
    }

    /**
     * Returns whether anything is kept.
     *
     * @return whether {@link #releaseIdle} may have something to do
     */
    public boolean keepsAny() {
        return lines.all().stream().anyMatch(StickyLine::isKept);
    }

    /**
     * Returns the key under which the store knows what a Lock holds. What it holds is not kept when it is released.
     *
     * @param local the key of the Lock
     * @return an owner who shares the hold; the key itself if that holds nothing here
     * @throws IllegalStateException if other Locks of the factory share the hold
     */
    public Key handOut(Key local) {
        StickyLine line = lines.get(local.resource());
        return line == null ? local : line.handOut(local);
    }

    /**
     * As {@link #handOut}; the Lock does not hold it any more.
     *
     * @param local the key of the Lock
     * @return the owner from now on
     */
    public Key giveAway(Key local) {
        StickyLine line = lines.get(local.resource());
        return line == null ? local : line.giveAway(local);
    }

    @Override
    public Response save(Request request) {
        Optional<UsedHold> used = used(request);
        if (used.isPresent()) {
            return used.get().isPromotion()
                    ? calls.promote(used.get())
                    : used.get().ask(store::save);
        }
        return mayBeKept(request) ? calls.acquire(request) : store.save(unkept(request));
    }

    @Override
    public Response waitAndSave(Request request, Duration maxWait, CompletionStage<?> withdrawn)
            throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        Optional<UsedHold> used = used(request);
        if (used.isPresent()) {
            return used.get().isPromotion()
                    ? calls.awaitPromotion(used.get(), maxWait, withdrawn)
                    : used.get().ask(asked -> store.waitAndSave(asked, maxWait, withdrawn));
        }
        return mayBeKept(request)
                ? calls.await(request, maxWait, withdrawn)
                : store.waitAndSave(unkept(request), maxWait, withdrawn);
    }

    /** What a Lock claims that holds nothing here the store has to judge. */
    private static boolean mayBeKept(Request request) {
        return request.isSticky() && request.key().held().isEmpty();
    }

    /** A Lock whose key others may know acquires under that key: what it held before under another one is not its any more. */
    private Request unkept(Request request) {
        StickyLine line = lines.get(request.key().resource());
        if (line != null) {
            line.end(request.key());
        }
        return request;
    }

    @Override
    public Response refresh(Request request) {
        Optional<UsedHold> used = used(request);
        ExpiringStore asked = leases.orElseThrow();
        return used.isPresent() ? used.get().ask(asked::refresh) : asked.refresh(request);
    }

    @Override
    public List<RefreshResult> refreshAll(List<Request> requests) {
        return refreshAll(requests, asked -> leases.orElseThrow().refreshAll(asked));
    }

    @Override
    public List<RefreshResult> refreshAll(List<Request> requests, Duration within) {
        return refreshAll(requests, asked -> leases.orElseThrow().refreshAll(asked, within));
    }

    private List<RefreshResult> refreshAll(
            List<Request> requests, Function<List<Request>, List<RefreshResult>> refresh) {
        List<Optional<UsedHold>> used = requests.stream().map(this::used).toList();
        used.forEach(hold -> hold.ifPresent(UsedHold::begin));
        try {
            return settle(used, refresh.apply(asked(requests, used)));
        } catch (RuntimeException | Error e) {
            used.forEach(hold -> hold.ifPresent(UsedHold::notAnswered));
            throw e;
        } finally {
            used.forEach(hold -> hold.ifPresent(UsedHold::end));
        }
    }

    private static List<Request> asked(List<Request> requests, List<Optional<UsedHold>> used) {
        List<Request> asked = new ArrayList<>();
        for (int i = 0; i < requests.size(); i++) {
            asked.add(used.get(i).map(UsedHold::asked).orElse(requests.get(i)));
        }
        return asked;
    }

    private static List<RefreshResult> settle(List<Optional<UsedHold>> used, List<RefreshResult> results) {
        List<RefreshResult> settled = new ArrayList<>();
        for (int i = 0; i < results.size(); i++) {
            RefreshResult result = results.get(i);
            settled.add(used.get(i).map(hold -> settle(hold, result)).orElse(result));
        }
        return settled;
    }

    private static RefreshResult settle(UsedHold hold, RefreshResult result) {
        if (result instanceof RefreshResult.Answered answered) {
            return new RefreshResult.Answered(hold.settle(answered.response()));
        }
        hold.notAnswered();
        return result;
    }

    @Override
    public boolean refreshesAtOnce() {
        return leases.filter(ExpiringStore::refreshesAtOnce).isPresent();
    }

    @Override
    public boolean delete(Key key) {
        return calls.release(key);
    }

    @Override
    public boolean isSpent(Key key) {
        return store.isSpent(key);
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        StickyLine line = lines.get(key.resource());
        LocalHold hold = line == null ? null : line.find(key);
        if (line == null || hold == null) {
            return store.find(key);
        }
        Optional<Response.Granted> found = store.find(hold.kept().claiming(key));
        if (found.isEmpty()) {
            line.lose(key, hold).forEach(told -> told.complete(LossReason.RELEASED_ELSEWHERE));
        }
        return found.flatMap(granted -> Optional.ofNullable(line.answerTo(key)));
    }

    @Override
    public <T> Optional<T> capability(Class<T> type) {
        boolean isMissing = (type == SharedStore.class || type == ExpiringStore.class)
                && store.capability(type).isEmpty();
        return isMissing ? Optional.empty() : ExpiringStore.super.capability(type);
    }

    /** {@inheritDoc} Here that is nothing: the store is another's. */
    @Override
    public void close() {}

    private Optional<UsedHold> used(Request request) {
        return UsedHold.of(lines, request);
    }
}
