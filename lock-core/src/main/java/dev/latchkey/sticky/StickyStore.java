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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/**
 * Shows a store to sticky Locks as one that keeps what they release, so that the next of them which acquires it asks nobody. The
 * store knows what they hold under keys that none of them has: here the key of a request is that of a Lock, below it that of the
 * hold. A request that is not sticky passes as it is. Thread-safe.
 */
public final class StickyStore implements ExpiringStore, BlockingStore, SharedStore {

    private final RecallableStore store;
    private final Optional<ExpiringStore> leases;
    private final StickyLines lines = new StickyLines();
    private final LineCalls calls;

    /**
     * Creates a view of a store for the sticky Locks of one factory.
     *
     * @param store keeps the holds
     * @param releases runs what releases a recalled hold; may wait
     */
    public StickyStore(RecallableStore store, Executor releases) {
        this.store = store;
        this.leases = store.capability(ExpiringStore.class);
        this.calls = new LineCalls(store, lines, releases);
    }

    /** Releases what is kept and not used. From now on nothing is kept. Works with the interrupt flag set, and keeps it. */
    public void releaseIdle() {
        calls.releaseIdle();
    }

    /**
     * Returns whether anything is kept.
     *
     * @return whether {@link #releaseIdle} may have something to do
     */
    public boolean keepsAny() {
        return calls.keepsAny();
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
        LocalHold hold = line == null ? null : line.find(local);
        if (line == null || hold == null || !line.handOut(hold)) {
            return local;
        }
        if (line.isShared(hold)) {
            throw new IllegalStateException(
                    "other Locks of this factory share the hold, so that its key is theirs as well:"
                            + " use a Lock without sticky() to hand out the key of a shared hold");
        }
        return hold.kept().claiming(local);
    }

    /**
     * As {@link #handOut}; the Lock does not hold it any more.
     *
     * @param local the key of the Lock
     * @return the owner from now on
     */
    public Key giveAway(Key local) {
        StickyLine line = lines.get(local.resource());
        LocalHold hold = line == null ? null : line.find(local);
        if (line == null || hold == null) {
            return local;
        }
        line.giveAway(hold);
        return hold.kept().claiming(local);
    }

    @Override
    public Response save(Request request) {
        Optional<UsedHold> used = used(request);
        if (used.isPresent()) {
            return used.get().isPromotion()
                    ? calls.promote(used.get())
                    : used.get().settle(store.save(used.get().asked()));
        }
        return request.isSticky() ? calls.acquire(request) : store.save(request);
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
                    : used.get().settle(store.waitAndSave(used.get().asked(), maxWait, withdrawn));
        }
        return request.isSticky()
                ? calls.await(request, maxWait, withdrawn)
                : store.waitAndSave(request, maxWait, withdrawn);
    }

    @Override
    public Response refresh(Request request) {
        Optional<UsedHold> used = used(request);
        ExpiringStore asked = leases.orElseThrow();
        return used.isPresent() ? used.get().settle(asked.refresh(used.get().asked())) : asked.refresh(request);
    }

    @Override
    public List<RefreshResult> refreshAll(List<Request> requests) {
        List<Optional<UsedHold>> used = requests.stream().map(this::used).toList();
        return settle(used, leases.orElseThrow().refreshAll(asked(requests, used)));
    }

    @Override
    public List<RefreshResult> refreshAll(List<Request> requests, Duration within) {
        List<Optional<UsedHold>> used = requests.stream().map(this::used).toList();
        return settle(used, leases.orElseThrow().refreshAll(asked(requests, used), within));
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
            boolean isOfKept = used.get(i).isPresent() && result instanceof RefreshResult.Answered;
            settled.add(
                    isOfKept
                            ? new RefreshResult.Answered(
                                    used.get(i).get().settle(((RefreshResult.Answered) result).response()))
                            : result);
        }
        return settled;
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
            line.lose(hold.kept()).forEach(told -> told.complete(LossReason.RELEASED_ELSEWHERE));
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
