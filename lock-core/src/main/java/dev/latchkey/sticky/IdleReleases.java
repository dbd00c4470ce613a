package dev.latchkey.sticky;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Releases in the store what is idle when a factory is closed, in bounded time. */
final class IdleReleases {

    private static final Logger log = LoggerFactory.getLogger("dev.latchkey.Lock");

    /** Enough to keep a server busy, and no burden for it. */
    private static final int AT_ONCE = 100;

    /** Until the store has answered: each of these may take a thread, and time, if there is no connection. */
    private static final int AT_FIRST = 4;

    /** For so long a server that does not answer may hold up the end of a factory, however much that keeps. */
    private static final long LONGEST_END_NANOS = Duration.ofSeconds(10).toNanos();

    private final LineReleases releases;
    private final LongSupplier clock;
    private final List<CompletableFuture<Boolean>> begun = new ArrayList<>();

    /** Whether the store has answered all that it was asked last. */
    private boolean isAnswering;

    /** When it was asked last. */
    private long askedNanos;

    /** For how long it has been asked in vain, all in all; of what is asked together, in the proportion that is not answered. */
    private long silentNanos;

    private int left;

    IdleReleases(LineReleases releases) {
        this(releases, System::nanoTime);
    }

    /** With a clock of nanoseconds of its own. */
    IdleReleases(LineReleases releases, LongSupplier clock) {
        this.releases = releases;
        this.clock = clock;
    }

    /**
     * Releases all that is idle, and waits for that; what is used is released by its Lock from now on. If the store was
     * asked in vain for long, the rest is left to its leases.
     */
    void release(StickyLines lines) {
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
        if (silentNanos >= LONGEST_END_NANOS) {
            left++;
            releases.done(line);
            return;
        }
        askedNanos = begun.isEmpty() ? clock.getAsLong() : askedNanos;
        if (releases.areAsync()) {
            begun.add(releases.begin(line, idle));
            if (begun.size() == (isAnswering ? AT_ONCE : AT_FIRST)) {
                awaitBegun();
            }
        } else {
            answered(LineReleases.quietly(idle.lease().ttl(), () -> releases.release(line, idle)) ? 1 : 0, 1);
        }
    }

    /** One failure among many answers does not say that the store is gone; one answer among many failures, not that it is there. */
    private void answered(long answers, int asked) {
        isAnswering = answers == asked;
        silentNanos += isAnswering ? 0 : (clock.getAsLong() - askedNanos) * (asked - answers) / asked;
    }

    /** Works with the interrupt flag set, and keeps it. */
    private void awaitBegun() {
        answered(begun.stream().filter(CompletableFuture::join).count(), begun.size());
        begun.clear();
    }
}
