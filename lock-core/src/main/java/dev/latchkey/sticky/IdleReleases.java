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

/** Releases in the store what is idle when a factory is closed, unless the store does not answer for long. */
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
     * something was not answered come to the limit, the rest is left to its leases.
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

    /** What a session holds has no lease that would end it: threads that nobody waits for release it, if they can. */
    private void leave(StickyLine line, KeptHold idle) {
        left++;
        if (idle.isTimed()) {
            releases.done(line);
        } else {
            releases.releaseLater(line, idle);
        }
    }

    /** The whole of a wait counts in which one was not answered, for it is mostly as long as that one's. */
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
     * Waits until the limit is over at most; what has not ended then goes on. Not by the future itself, which may want a further
     * thread for that, and fails where none is to be had.
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
