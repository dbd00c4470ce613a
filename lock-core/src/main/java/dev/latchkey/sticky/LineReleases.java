package dev.latchkey.sticky;

import dev.latchkey.Key;
import dev.latchkey.spi.AsyncStore;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.RecallableStore;
import dev.latchkey.threads.FactoryThreads;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Releases what lines hold in the store: by the thread of a caller; or, when it is recalled, without keeping anybody waiting. */
final class LineReleases {

    private static final Logger log = LoggerFactory.getLogger("dev.latchkey.Lock");

    private final RecallableStore store;
    private final Optional<AsyncStore> async;
    private final FactoryThreads threads;

    LineReleases(RecallableStore store, FactoryThreads threads) {
        this.store = store;
        this.async = store.capability(AsyncStore.class);
        this.threads = threads;
    }

    boolean releaseNow(StickyLine line, String resource, KeptHold kept) {
        try {
            return store.delete(kept.claim());
        } finally {
            done(line, resource);
        }
    }

    boolean releaseUnkept(StickyLine line, Key key) {
        try {
            return store.delete(key);
        } finally {
            line.wakeFirst();
        }
    }

    /** What was recalled meanwhile is not kept. */
    void done(StickyLine line, String resource) {
        releaseDue(line, resource, line.done());
    }

    void releaseDue(StickyLine line, String resource, @Nullable KeptHold due) {
        if (due != null) {
            releaseLater(line, resource, due);
        }
    }

    /** The thread may be the store's, which has recalled it and must not wait. A failure leaves the hold to its lease. */
    private void releaseLater(StickyLine line, String resource, KeptHold kept) {
        if (async.isEmpty()) {
            releaseByThread(line, resource, kept);
            return;
        }
        // The rival waits for this: no other thread has to start for it.
        var unused = async.get().deleteAsync(kept.claim()).whenComplete((released, failure) -> {
            if (failure != null) {
                warn(kept.lease().ttl(), failure);
            }
            done(line, resource);
        });
    }

    private void releaseByThread(StickyLine line, String resource, KeptHold kept) {
        try {
            var unused = threads.end(() -> quietly(kept.lease().ttl(), () -> releaseNow(line, resource, kept)));
        } catch (OutOfMemoryError e) {
            done(line, resource);
        }
    }

    void listen(StickyLine line, String resource, KeptHold kept) {
        Lease lease = kept.lease();
        lease.lost()
                .ifPresent(lost -> lost.thenAccept(reason -> line.lose(kept).forEach(told -> told.complete(reason))));
        lease.recalled().ifPresent(recalled -> recalled.thenRun(() -> recalled(line, resource, kept)));
    }

    private void recalled(StickyLine line, String resource, KeptHold kept) {
        if (line.recall(kept)) {
            releaseLater(line, resource, kept);
        } else if (kept.isTimed()) {
            lookAgain(line, resource, kept);
        }
    }

    /** A hold may end by its time, without a release that would end what is recalled. */
    private void lookAgain(StickyLine line, String resource, KeptHold recalled) {
        long nanos = line.lastEndNanos(recalled) - System.nanoTime();
        if (nanos > 0) {
            var unused = threads.alarmIn(nanos, () -> lookAgain(line, resource, recalled));
        } else if (line.endOverdue(recalled)) {
            var unused =
                    threads.end(() -> quietly(recalled.lease().ttl(), () -> releaseUnkept(line, recalled.claim())));
        } else {
            releaseDue(line, resource, line.due());
        }
    }

    static void quietly(Duration ttl, BooleanSupplier release) {
        try {
            boolean unused = release.getAsBoolean();
        } catch (RuntimeException e) {
            warn(ttl, e);
        }
    }

    private static void warn(Duration ttl, Throwable failure) {
        log.warn("lock.recall_failed ttlMs={}", ttl.toMillis(), failure);
    }
}
