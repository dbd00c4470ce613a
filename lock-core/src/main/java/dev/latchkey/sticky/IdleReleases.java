package dev.latchkey.sticky;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Releases in the store what is idle when a factory is closed; waits no longer for a store that does not answer for long. */
final class IdleReleases {

    private static final Logger log = LoggerFactory.getLogger("dev.latchkey.Lock");

    /** Enough to keep a server busy, and no burden for it. */
    private static final int AT_ONCE = 100;

    /** Until the store has answered: each of these may take a thread, and time, if there is no connection. */
    private static final int AT_FIRST = 4;

    /** How long the end of a factory waits in vain, all in all, and for the answers to what is asked together. */
    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final LineReleases releases;
    private final LongSupplier clock;
    private final Duration limit;
    private final List<CompletableFuture<Boolean>> begun = new ArrayList<>();

    /** Whether the store has answered all that it was asked last. */
    private boolean isAnswering;

    /** When it was asked last. */
    private long askedNanos;

    /** For how long it was waited for in vain, at the end of the factory and when what ended meanwhile is released. */
    private long silentNanos;

    private int left;

    IdleReleases(LineReleases releases) {
        this(releases, System::nanoTime, LIMIT);
    }

    /** With a clock of nanoseconds and a limit of its own. */
    IdleReleases(LineReleases releases, LongSupplier clock, Duration limit) {
        this.releases = releases;
        this.clock = clock;
        this.limit = limit;
    }

    /**
     * Releases all that is idle, and waits for that; what is used is released by its Lock from now on. If the waits in which
     * something was not answered come to the limit, nothing more is waited for: leases are left to end, and threads release the rest.
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
        if (silentNanos >= limit.toNanos()) {
            leave(line, idle);
            return;
        }
        askedNanos = begun.isEmpty() ? clock.getAsLong() : askedNanos;
        if (releases.areAsync()) {
            begun.add(releases.begin(line, idle));
            if (begun.size() == (isAnswering ? AT_ONCE : AT_FIRST)) {
                awaitBegun();
            }
        } else {
            isAnswering = LineReleases.quietly(idle.lease().ttl(), () -> releases.release(line, idle));
            countSilence();
        }
    }

    /** What lasts as long as a session has no lease that ends it: a thread releases it later, if one is to be had. */
    private void leave(StickyLine line, KeptHold idle) {
        if (idle.isTimed()) {
            left++;
            releases.done(line);
        } else {
            releases.releaseLater(line, idle);
        }
    }

    /** The whole wait counts if one request in it was not answered: mostly that request made it so long. */
    private void countSilence() {
        silentNanos += isAnswering ? 0 : clock.getAsLong() - askedNanos;
    }

    private void awaitBegun() {
        if (!begun.isEmpty()) {
            awaitUninterruptibly(CompletableFuture.allOf(begun.toArray(CompletableFuture<?>[]::new)));
            isAnswering = begun.stream().allMatch(release -> release.getNow(false));
            countSilence();
            begun.clear();
        }
    }

    /**
     * Waits, for as long as the limit at most; releases under way go on after that. Not by {@link CompletableFuture#get}: on a worker
     * of a {@link java.util.concurrent.ForkJoinPool} that may start one more thread, and throws if none is to be had.
     */
    private void awaitUninterruptibly(CompletableFuture<Void> allEnded) {
        CountDownLatch ended = new CountDownLatch(1);
        var unused = allEnded.whenComplete((nothing, failure) -> ended.countDown());
        long end = System.nanoTime() + limit.toNanos();
        boolean wasInterrupted = false;
        boolean isOver = false;
        while (!isOver) {
            try {
                boolean unusedEnded = ended.await(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                isOver = true;
            } catch (InterruptedException e) {
                wasInterrupted = true;
            }
        }
        if (wasInterrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
