package dev.latchkey.store;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.BlockingStore;
import dev.latchkey.spi.PermitHolder;
import dev.latchkey.spi.PermitStore;
import dev.latchkey.spi.Permits;
import dev.latchkey.spi.ProcessBound;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/** The semaphores of an in-memory store, each of which is there as long as anybody holds permits of it or waits for them. */
final class SemaphoreTable implements PermitStore, BlockingStore, ProcessBound {

    private static final int SWEEP_FROM = 64;

    private final ReentrantLock guard = new ReentrantLock();
    private final Map<String, SemaphoreEntry> byName = new HashMap<>();
    private int sweepAt = SWEEP_FROM;
    private boolean closed;

    @Override
    public Response save(Request request) {
        return inEntry(request.key(), entry -> entry.save(request, System.nanoTime()));
    }

    @Override
    public Response refresh(Request request) {
        return inEntry(request.key(), entry -> entry.refresh(request, System.nanoTime()));
    }

    @Override
    public Optional<Response.Granted> find(Key key) {
        return inEntryUnlessClosed(key, entry -> entry.find(key, System.nanoTime()), Optional.empty());
    }

    @Override
    public boolean delete(Key key) {
        return inEntryUnlessClosed(key, entry -> entry.delete(key, System.nanoTime()), false);
    }

    private <T> T inEntry(Key key, Function<SemaphoreEntry, T> action) {
        String name = Permits.of(key).semaphore();
        guard.lock();
        try {
            checkOpen(name);
            return inEntry(name, action);
        } finally {
            guard.unlock();
        }
    }

    private <T> T inEntryUnlessClosed(Key key, Function<SemaphoreEntry, T> action, T closedAnswer) {
        String name = Permits.of(key).semaphore();
        guard.lock();
        try {
            return closed ? closedAnswer : inEntry(name, action);
        } finally {
            guard.unlock();
        }
    }

    private <T> T inEntry(String name, Function<SemaphoreEntry, T> action) {
        SemaphoreEntry entry = enter(name);
        T answer = action.apply(entry);
        removeIfEmpty(name, entry);
        return answer;
    }

    @Override
    public Response waitAndSave(Request request, Duration maxWait, CompletionStage<?> withdrawn)
            throws InterruptedException {
        String name = Permits.of(request.key()).semaphore();
        long end = System.nanoTime() + maxWait.toNanos();
        guard.lockInterruptibly();
        try {
            checkOpen(name);
            Response response = inEntry(name, entry -> entry.save(request, System.nanoTime()));
            return response instanceof Response.Conflicted ? await(name, request, end, withdrawn) : response;
        } finally {
            guard.unlock();
        }
    }

    private Response await(String name, Request request, long end, CompletionStage<?> withdrawn)
            throws InterruptedException {
        SemaphoreEntry entry = enter(name);
        PermitWaiter waiter = new PermitWaiter(request, guard.newCondition());
        entry.enqueue(waiter);
        withdrawn.thenRun(() -> withdraw(waiter));
        boolean isWanted = false;
        try {
            entry.await(waiter, end);
            isWanted = !waiter.isWithdrawn();
        } finally {
            if (isWanted) {
                entry.leave(waiter, System.nanoTime());
            } else {
                entry.leaveWithNothing(waiter, System.nanoTime());
            }
            removeIfEmpty(name, entry);
        }
        checkOpen(name);
        return isWanted ? waiter.granted().orElse(Response.Conflicted.NO_HINT) : Response.Conflicted.NO_HINT;
    }

    private void withdraw(PermitWaiter waiter) {
        guard.lock();
        try {
            waiter.withdraw();
        } finally {
            guard.unlock();
        }
    }

    @Override
    public String reason() {
        return InMemoryStore.REASON;
    }

    @Override
    public List<PermitHolder> permitHolders(String semaphore) {
        guard.lock();
        try {
            return closed ? List.of() : inEntry(semaphore, entry -> entry.holders(System.nanoTime()));
        } finally {
            guard.unlock();
        }
    }

    @Override
    public void close() {
        guard.lock();
        try {
            closed = true;
            byName.values().forEach(SemaphoreEntry::wakeAll);
            byName.clear();
        } finally {
            guard.unlock();
        }
    }

    private void checkOpen(String name) {
        if (closed) {
            throw new LockStorageException(name, "the in-memory store was closed", null);
        }
    }

    /** Whoever leaves the entry calls {@link #removeIfEmpty}. */
    private SemaphoreEntry enter(String name) {
        sweepIfGrown();
        return byName.computeIfAbsent(name, unused -> new SemaphoreEntry());
    }

    private void removeIfEmpty(String name, SemaphoreEntry entry) {
        if (entry.isEmpty()) {
            byName.remove(name, entry);
        }
    }

    /** Leases that nobody releases must not fill the memory: each time the entries have doubled, those go that are over. */
    private void sweepIfGrown() {
        if (byName.size() >= sweepAt) {
            long now = System.nanoTime();
            byName.values().removeIf(entry -> entry.isOver(now));
            sweepAt = Math.max(SWEEP_FROM, 2 * byName.size());
        }
    }
}
