package dev.latchkey.combined;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.LockStorageException.Failure;
import dev.latchkey.spi.AsyncStore;
import dev.latchkey.spi.Durability;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.FencingStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.threads.DaemonThreads;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One member of a combined store, asked without waiting for it: by itself where it is an {@link AsyncStore}, else on threads
 * of its own, so that one that hangs delays nobody else.
 *
 * <p>Calls for one token are made one after the other, in the order they were given: what undoes a grant that came late,
 * or a release, never overtakes it. A save that was not sent when its key is released may be left out. Who takes a resource comes after all that has been given up of it here, so that nobody
 * is refused for what this store itself still has to give back.
 */
final class Member {

    private static final Logger log = LoggerFactory.getLogger(CombinedStore.class);
    private static final int THREADS = 16;
    private static final long IDLE_SECONDS = 10;

    /** How many calls may be under way, so that a member that hangs does not fill the memory. */
    private static final int MOST_CALLS = 4_096;

    /** The same for what gives up: it is left out last, for what is not given up stays until its lease ends. */
    private static final int MOST_RELEASES = 16 * MOST_CALLS;

    private final int number;
    private final PersistingStore store;
    private final Optional<ExpiringStore> expiring;
    private final Optional<FencingStore> fencing;
    private final Optional<AsyncStore> async;
    private final ThreadPoolExecutor executor;

    private final AtomicInteger calls = new AtomicInteger();
    private final UnansweredReleases spent = new UnansweredReleases();

    /** Those of which something shared was asked: what the same key holds exclusively would be demoted. */
    private final UnansweredReleases demoted = new UnansweredReleases();

    private final CallsByKey inTurn = new CallsByKey();

    /** What is still being given up of a resource, whoever held it. */
    private final ConcurrentMap<String, CompletableFuture<?>> releases = new ConcurrentHashMap<>();

    Member(int number, PersistingStore store) {
        this.number = number;
        this.store = store;
        this.expiring = store.capability(ExpiringStore.class);
        this.fencing = store.capability(FencingStore.class).filter(fences -> fences.survives() != Durability.NOTHING);
        this.async = store.capability(AsyncStore.class);
        DaemonThreads threads = new DaemonThreads();
        this.executor = new ThreadPoolExecutor(
                THREADS,
                THREADS,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                task -> threads.make(task, "latchkey-member-" + number));
        executor.allowCoreThreadTimeOut(true);
    }

    int number() {
        return number;
    }

    PersistingStore store() {
        return store;
    }

    Optional<ExpiringStore> expiring() {
        return expiring;
    }

    Optional<FencingStore> fencing() {
        return fencing;
    }

    /**
     * Has it save as long as that is of use.
     *
     * @param isAwaited whether the caller still waits for the answer
     * @param proposal a fencing token that would suit, or empty
     */
    CompletableFuture<Response> saveBefore(
            long endNanos, Key key, BooleanSupplier isAwaited, Supplier<Request> request, OptionalLong proposal) {
        MemberCall.Save call = new MemberCall.Save(isAwaited, () -> {
            Request asked = request.get();
            checkInTime(endNanos, key);
            checkUnspent(key, asked.mode());
            return noting(
                    failure -> noteUnanswered(asked, failure),
                    () -> async.isPresent()
                            ? async.get().saveAsync(asked, proposal.orElse(0))
                            : onThread(key, () -> save(asked, proposal)));
        });
        return inTurn(key, MOST_CALLS, releases.get(key.resource()), call);
    }

    /** As {@link #saveBefore}, for what asks the store more than once. */
    CompletableFuture<Response> promoteBefore(long endNanos, Key key, Supplier<Response> promotion) {
        MemberCall<Response> call = new MemberCall<>(() -> {
            checkInTime(endNanos, key);
            checkUnspent(key, LockMode.EXCLUSIVE);
            return onThread(key, promotion);
        });
        return inTurn(key, MOST_CALLS, releases.get(key.resource()), call);
    }

    /** Has it save by the thread that calls this, in the turn of the key. */
    Response saveNow(Request request) {
        return saveNow(request, OptionalLong.empty());
    }

    /** As {@link #saveNow(Request)}, with a fencing token that would suit. */
    Response saveNow(Request request, OptionalLong proposal) {
        try {
            return save(request, proposal);
        } catch (RuntimeException | Error e) {
            noteUnanswered(request, e);
            throw e;
        }
    }

    /** Whatever it claims: what was promoted meanwhile may be the hold that it was to demote, with the same token. */
    private void noteUnanswered(Request request, Throwable failure) {
        if (request.mode() == LockMode.SHARED) {
            demoted.failed(request.key(), failure);
        }
    }

    private Response save(Request request, OptionalLong proposal) {
        return proposal.isPresent() && fencing.isPresent()
                ? fencing.get().save(request, proposal.getAsLong())
                : store.save(request);
    }

    /** Has it give up what a key holds. */
    CompletableFuture<Boolean> delete(Key key) {
        return deleteAfter(CompletableFuture.completedFuture(null), key);
    }

    /** As {@link #delete}, not before something else is complete. */
    CompletableFuture<Boolean> deleteAfter(CompletableFuture<?> first, Key key) {
        Optional<MemberCall.Save> unsent = inTurn.withdrawUnsentSave(key);
        boolean isReleased = unsent.flatMap(MemberCall::before).isPresent();
        CompletableFuture<Boolean> answer =
                isReleased ? CompletableFuture.completedFuture(false) : sendDeleteAfter(first, key);
        // Not before: close() waits for what has not ended.
        unsent.ifPresent(save -> save.endWithdrawn(new LockStorageException(
                key.resource(),
                "the key was released before a member of the combined store was asked",
                null,
                Failure.NOT_SENT)));
        return answer;
    }

    private CompletableFuture<Boolean> sendDeleteAfter(CompletableFuture<?> first, Key key) {
        MemberCall.Delete call = new MemberCall.Delete(
                key,
                () -> noting(
                        failure -> spent.failed(key, failure),
                        () -> async.isPresent()
                                ? async.get().deleteAsync(key)
                                : onThread(key, () -> store.delete(key))));
        CompletableFuture<Boolean> answer = inTurn(key, MOST_RELEASES, first, call);
        if (answer.isDone()) {
            return answer;
        }
        CompletableFuture<?> all = releases.merge(key.resource(), answer, CompletableFuture::allOf);
        var unused = all.whenComplete((mine, failure) -> releases.remove(key.resource(), all));
        // What has ended stays with those before it until they have, too, and counts for as long.
        var unusedCount = answer.whenComplete((mine, failure) -> {
            calls.incrementAndGet();
            var unusedToo = all.whenComplete((theirs, alsoFailed) -> calls.decrementAndGet());
        });
        return answer;
    }

    /** Makes a call that is of use until its caller stops waiting for it; one that has not begun by then is left out. */
    <T> CompletableFuture<T> callBefore(long endNanos, Key key, Supplier<T> call) {
        return callBefore(endNanos, key, LockMode.SHARED, call);
    }

    /** As {@link #callBefore(long, Key, Supplier)}, for one who counts on what the key holds in a mode. */
    <T> CompletableFuture<T> callBefore(long endNanos, Key key, LockMode mode, Supplier<T> call) {
        return call(key, () -> {
            checkInTime(endNanos, key);
            checkUnspent(key, mode);
            return call.get();
        });
    }

    /** As {@link #callBefore(long, Key, LockMode, Supplier)} for what may end a lease sooner. */
    <T> CompletableFuture<T> cutBefore(long endNanos, Key key, LockMode mode, Supplier<T> call) {
        return callBefore(endNanos, key, mode, () -> {
            try {
                return call.get();
            } catch (RuntimeException | Error e) {
                spent.failed(key, e);
                throw e;
            }
        });
    }

    /** Makes a call whose failure is noted before the next call of the key begins. */
    private static <T> CompletionStage<T> noting(Consumer<Throwable> note, Supplier<CompletionStage<T>> call) {
        CompletionStage<T> answer;
        try {
            answer = call.get();
        } catch (RuntimeException | Error e) {
            note.accept(e);
            throw e;
        }
        return answer.whenComplete((value, failure) -> {
            if (failure != null) {
                note.accept(failure);
            }
        });
    }

    /**
     * Whether a request without an answer may still end what a key holds here, or demote it: nothing it has here in this mode
     * is counted on.
     */
    boolean isSpent(Key key, LockMode mode) {
        return spent.contains(key) || (mode == LockMode.EXCLUSIVE && demoted.contains(key));
    }

    private static void checkInTime(long endNanos, Key key) {
        if (System.nanoTime() - endNanos >= 0) {
            throw tooBusy(key);
        }
    }

    private void checkUnspent(Key key, LockMode mode) {
        if (isSpent(key, mode)) {
            throw new LockStorageException(
                    key.resource(),
                    "a member of the combined store has not answered an earlier request of this key to release or to share",
                    null,
                    Failure.NOT_SENT);
        }
    }

    private static LockStorageException tooBusy(Key key) {
        return new LockStorageException(
                key.resource(), "a member of the combined store is too busy", null, Failure.NOT_SENT);
    }

    /** Makes a call after all others for this key. */
    <T> CompletableFuture<T> call(Key key, Supplier<T> call) {
        return inTurn(key, MOST_CALLS, null, new MemberCall<>(() -> onThread(key, call)));
    }

    private <T> CompletableFuture<T> inTurn(
            Key key, int most, @Nullable CompletableFuture<?> first, MemberCall<T> call) {
        CompletableFuture<T> answer = call.answer();
        if (calls.incrementAndGet() > most) {
            calls.decrementAndGet();
            answer.completeExceptionally(tooBusy(key));
            return answer;
        }
        var unusedCount = answer.whenComplete((mine, failure) -> calls.decrementAndGet());
        inTurn.add(key, call, first);
        return answer;
    }

    private <T> CompletableFuture<T> onThread(Key key, Supplier<T> call) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        try {
            executor.execute(() -> {
                try {
                    answer.complete(call.get());
                } catch (Throwable e) {
                    // Errors, too: whoever waits for the answer, and the next call of the key, must go on.
                    answer.completeExceptionally(e);
                }
            });
        } catch (RejectedExecutionException e) {
            answer.completeExceptionally(closed(key, Failure.NOT_SENT));
        }
        return answer;
    }

    private static LockStorageException closed(Key key, Failure failure) {
        return new LockStorageException(key.resource(), "the combined store was closed", null, failure);
    }

    /**
     * Lets what was begun come to its end, also what waits for another call to end: it may give something back. What takes
     * longer than the limit is interrupted, and the rest is left out.
     *
     * @return complete when the store is asked no more, or does not react
     */
    CompletableFuture<?> close(long limitNanos) {
        return inTurn.ended()
                .handle((all, failure) -> true)
                .completeOnTimeout(false, limitNanos, TimeUnit.NANOSECONDS)
                .thenAccept(this::end);
    }

    private void end(boolean allEnded) {
        if (allEnded) {
            executor.shutdown();
            return;
        }
        List<Runnable> left = executor.shutdownNow();
        log.warn("lock.combined_member_hangs {}: interrupted, with {} calls waiting", this, left.size());
        // Any of them may have come to the store.
        inTurn.endAll(key -> closed(key, Failure.IN_DOUBT));
    }

    @Override
    public String toString() {
        return "member " + number + " (" + store.getClass().getSimpleName() + ")";
    }
}
