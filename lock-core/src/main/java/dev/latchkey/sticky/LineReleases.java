package dev.latchkey.sticky;

import dev.latchkey.Key;
import dev.latchkey.spi.AsyncStore;
import dev.latchkey.spi.RecallableStore;
import dev.latchkey.threads.FactoryThreads;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Releases in the store what the Locks of this process keep no more, and what has become due meanwhile. */
final class LineReleases {

    private static final Logger log = LoggerFactory.getLogger("dev.latchkey.Lock");

    private static final int SENDS = 2;

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

    /**
     * Releases a hold, if there is one, for which the line is busy: without waiting. It is sent once more if it may be held still,
     * which does no harm; a second failure leaves it to its lease.
     */
    void releaseLater(StickyLine line, @Nullable KeptHold kept) {
        if (kept != null) {
            var unused = begin(new UnawaitedRelease(line, kept, UnawaitedRelease::mayBeHeldStill, () -> done(line)));
        }
    }

    /** As {@link #releaseLater}, of a hold that was not kept. */
    void releaseUnkeptLater(StickyLine line, KeptHold ended) {
        var unused = begin(new UnawaitedRelease(line, ended, UnawaitedRelease::mayBeHeldStill, line::wakeFirst));
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
        return begin(new UnawaitedRelease(line, kept, UnawaitedRelease::isUnsent, () -> done(line)));
    }

    /** The caller may be a thread of the store, or one that watches leases. */
    private CompletableFuture<Boolean> begin(UnawaitedRelease release) {
        if (async.isEmpty()) {
            sendOnAThread(release, null);
            return release.ended();
        }
        try {
            CompletableFuture<Boolean> answer =
                    async.get().deleteAsync(release.key()).toCompletableFuture();
            var unused = answer.whenComplete((released, failure) -> answered(release, failure));
        } catch (RuntimeException | Error e) {
            // It may not have been sent.
            log.debug("lock.recall_not_sent", e);
            sendOnAThread(release, null);
        }
        return release.ended();
    }

    private void answered(UnawaitedRelease release, @Nullable Throwable answer) {
        Throwable failure =
                answer instanceof CompletionException && answer.getCause() != null ? answer.getCause() : answer;
        if (failure != null && release.isToBeSentAfter(failure)) {
            sendOnAThread(release, failure);
            return;
        }
        try {
            release.end(failure == null);
        } finally {
            if (failure != null) {
                failed(release.ttl(), failure);
            }
        }
    }

    private void sendOnAThread(UnawaitedRelease release, @Nullable Throwable before) {
        try {
            var unused = threads.end(() -> {
                boolean isAnswered = false;
                try {
                    isAnswered = send(release, before);
                } finally {
                    release.end(isAnswered);
                }
            });
        } catch (OutOfMemoryError e) {
            release.end(false);
        }
    }

    /** Many may wait here for a server that is silent: what is over meanwhile is not sent. Returns whether the store has answered. */
    private boolean send(UnawaitedRelease release, @Nullable Throwable before) {
        Throwable failure = before;
        for (int sent = before == null ? 0 : 1; sent < SENDS && release.isToBeSentAfter(failure); sent++) {
            try {
                boolean unused = store.delete(release.key());
                return true;
            } catch (Throwable e) {
                failure = e;
            }
        }
        if (failure != null) {
            failed(release.ttl(), failure);
        }
        return false;
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
