package dev.latchkey.sticky;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.AsyncStore;
import dev.latchkey.spi.RecallableStore;
import dev.latchkey.threads.FactoryThreads;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Releases in the store what the Locks of this process keep no more, and what has become due meanwhile. */
final class LineReleases {

    private static final Logger log = LoggerFactory.getLogger("dev.latchkey.Lock");

    private final RecallableStore store;

    /** Empty if a thread has to wait for the answer. */
    private final Optional<AsyncStore> async;

    private final FactoryThreads threads;

    LineReleases(RecallableStore store, FactoryThreads threads) {
        this.store = store;
        this.async = store.capability(AsyncStore.class);
        this.threads = threads;
    }

    /** Releases a hold for which the line is busy, and waits for the answer. */
    boolean release(StickyLine line, KeptHold kept) {
        try {
            return store.delete(kept.claim());
        } finally {
            done(line);
        }
    }

    /** Releases a hold that was not kept, and waits for the answer. */
    boolean releaseUnkept(StickyLine line, Key key) {
        try {
            return store.delete(key);
        } finally {
            line.wakeFirst();
        }
    }

    /** What was recalled meanwhile is not kept. */
    void done(StickyLine line) {
        releaseLater(line, line.done());
    }

    /** Releases a hold, if there is one, for which the line is busy: without waiting. A second failure leaves it to its lease. */
    void releaseLater(StickyLine line, @Nullable KeptHold kept) {
        if (kept != null) {
            var unused = begin(kept, () -> done(line), LineReleases::mayBeHeldStill);
        }
    }

    /** As {@link #releaseLater}, of a hold that was not kept. */
    void releaseUnkeptLater(StickyLine line, KeptHold ended) {
        var unused = begin(ended, line::wakeFirst, LineReleases::mayBeHeldStill);
    }

    /** Whether a release can be begun without a thread that waits for its answer. */
    boolean areAsync() {
        return async.isPresent();
    }

    /**
     * As {@link #releaseLater}, for whoever waits: not sent again if it is not answered. Returns the end of the release, which
     * does not fail: whether the store has answered.
     */
    CompletableFuture<Boolean> begin(StickyLine line, KeptHold kept) {
        return begin(kept, () -> done(line), LineReleases::isUnsent);
    }

    /**
     * The caller may be a thread of the store, or one that watches leases. Returns as {@link #begin(StickyLine, KeptHold)}.
     *
     * @param again after which failures a thread sends it once more, which does no harm: until there is a connection again, or
     *     its time is over
     */
    private CompletableFuture<Boolean> begin(KeptHold hold, Runnable afterwards, Predicate<Throwable> again) {
        Key key = hold.claim();
        Duration ttl = hold.lease().ttl();
        BooleanSupplier isOver = overAfter(hold, ttl);
        CompletableFuture<Boolean> ended = new CompletableFuture<>();
        Consumer<Boolean> end = isAnswered -> {
            try {
                afterwards.run();
            } finally {
                ended.complete(isAnswered);
            }
        };
        if (async.isPresent()) {
            try {
                CompletableFuture<Boolean> answer = async.get().deleteAsync(key).toCompletableFuture();
                var unused = answer.whenComplete((released, failure) -> {
                    if (failure != null && again.test(unwrapped(failure))) {
                        releaseOnAThread(ttl, key, isOver, end);
                    } else {
                        settle(ttl, failure, end);
                    }
                });
                return ended;
            } catch (RuntimeException | Error e) {
                // It may not have been sent: a thread sends it, which does no harm twice.
                log.debug("lock.recall_not_sent", e);
            }
        }
        releaseOnAThread(ttl, key, isOver, end);
        return ended;
    }

    /** A hold that lasts as long as a session is never over by time. */
    private static BooleanSupplier overAfter(KeptHold hold, Duration ttl) {
        boolean isTimed = hold.isTimed();
        long began = System.nanoTime();
        return () -> isTimed && System.nanoTime() - began > ttl.toNanos();
    }

    /** Many may wait here for a server that is silent: what is over meanwhile is not released any more. */
    private void releaseOnAThread(Duration ttl, Key key, BooleanSupplier isOver, Consumer<Boolean> end) {
        try {
            var unused = threads.end(() -> {
                boolean isAnswered = false;
                try {
                    isAnswered = !isOver.getAsBoolean() && quietly(ttl, () -> store.delete(key));
                } finally {
                    end.accept(isAnswered);
                }
            });
        } catch (OutOfMemoryError e) {
            end.accept(false);
        }
    }

    private static void settle(Duration ttl, @Nullable Throwable failure, Consumer<Boolean> end) {
        try {
            end.accept(failure == null);
        } finally {
            if (failure != null) {
                failed(ttl, unwrapped(failure));
            }
        }
    }

    private static boolean isUnsent(Throwable failure) {
        return failure instanceof LockStorageException storage
                && storage.failure() == LockStorageException.Failure.NOT_SENT;
    }

    /** Unless it is known that the store refuses it. Where a connection breaks, all that is kept is released just then. */
    private static boolean mayBeHeldStill(Throwable failure) {
        return failure instanceof LockStorageException storage
                && storage.failure() != LockStorageException.Failure.DENIED;
    }

    private static Throwable unwrapped(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    /**
     * Releases something of which a failure, of whatever kind, is not to hide what else there is to tell, or do. Returns whether the
     * store has answered.
     */
    static boolean quietly(Duration ttl, BooleanSupplier release) {
        try {
            boolean unused = release.getAsBoolean();
            return true;
        } catch (Throwable e) {
            failed(ttl, e);
            return false;
        }
    }

    private static void failed(Duration ttl, Throwable failure) {
        log.warn("lock.recall_failed ttlMs={}", ttl.toMillis(), failure);
    }
}
