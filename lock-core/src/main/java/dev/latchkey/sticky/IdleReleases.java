package dev.latchkey.sticky;

import dev.latchkey.threads.FactoryThreads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Releases in the store what is idle when a factory is closed, in bounded time. */
final class IdleReleases {

    private static final Logger log = LoggerFactory.getLogger("dev.latchkey.Lock");

    /** Enough to keep a server busy, and no burden for it. */
    private static final int AT_ONCE = 100;

    /** Until the store has answered: each of these may take a thread, and time, if there is no connection. */
    private static final int AT_FIRST = 4;

    /** How long the end of a factory may take from the first release on that the store does not answer, and each wait for answers. */
    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final LineReleases releases;
    private final FactoryThreads threads;
    private final LongSupplier clock;
    private final Duration limit;
    private final List<CompletableFuture<Boolean>> begun = new ArrayList<>();

    /** Whether the store has answered all that it was asked last. */
    private boolean isAnswering;

    /** When it was first known not to have answered; null while it has answered all. */
    private @Nullable Long silentSince;

    private int left;

    IdleReleases(LineReleases releases, FactoryThreads threads) {
        this(releases, threads, System::nanoTime, LIMIT);
    }

    /** With a clock of nanoseconds and a limit of its own. */
    IdleReleases(LineReleases releases, FactoryThreads threads, LongSupplier clock, Duration limit) {
        this.releases = releases;
        this.threads = threads;
        this.clock = clock;
        this.limit = limit;
    }

    /**
     * Releases all that is idle, and waits for that; what is used is released by its Lock from now on. If the store does not
     * answer a release, the rest is left to its leases when the limit is over.
     */
    void release(StickyLines lines) {
        left = 0;
        for (StickyLine line : lines.all()) {
            KeptHold idle = line.close();
            if (idle != null) {
                release(line, idle);
            }
        }
        awaitBegun();
        if (left > 0) {
            log.warn("lock.left_to_leases locks={}: the store did not answer when the factory was closed", left);
        }
    }

    private void release(StickyLine line, KeptHold idle) {
        if (silentSince != null && clock.getAsLong() - silentSince >= limit.toNanos()) {
            left++;
            releases.done(line);
        } else if (releases.areAsync()) {
            begun.add(releases.begin(line, idle));
            if (begun.size() == (isAnswering ? AT_ONCE : AT_FIRST)) {
                awaitBegun();
            }
        } else {
            answered(LineReleases.quietly(idle.lease().ttl(), () -> releases.release(line, idle)));
        }
    }

    private void answered(boolean all) {
        isAnswering = all;
        if (!all && silentSince == null) {
            silentSince = clock.getAsLong();
        }
    }

    /** Works with the interrupt flag set, and keeps it. */
    private void awaitBegun() {
        CompletableFuture<Void> ends = CompletableFuture.allOf(begun.toArray(CompletableFuture<?>[]::new));
        Future<?> alarm = threads.alarmIn(limit.toNanos(), () -> ends.complete(null));
        ends.join();
        alarm.cancel(false);
        answered(begun.stream().allMatch(release -> release.getNow(false)));
        begun.clear();
    }
}
