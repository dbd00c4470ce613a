package dev.latchkey.sticky;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** One release of a hold that has ended, for which nobody waits who holds or acquires. */
final class UnawaitedRelease {

    private final StickyLine line;
    private final KeptHold hold;
    private final Key key;
    private final Duration ttl;
    private final Predicate<Throwable> again;
    private final Runnable afterwards;
    private final CompletableFuture<Boolean> ended = new CompletableFuture<>();

    /**
     * Describes a release that is to be sent.
     *
     * @param again after which failures it is to be sent once more
     * @param afterwards what to do when it has ended, in whatever way
     */
    UnawaitedRelease(StickyLine line, KeptHold hold, Predicate<Throwable> again, Runnable afterwards) {
        this.line = line;
        this.hold = hold;
        this.key = hold.claim();
        this.ttl = hold.lease().ttl();
        this.again = again;
        this.afterwards = afterwards;
    }

    Key key() {
        return key;
    }

    Duration ttl() {
        return ttl;
    }

    /** Whether the store may have it still, after a failure if there was one. */
    boolean isToBeSentAfter(@Nullable Throwable failure) {
        return (failure == null || again.test(failure)) && !line.isOverByTime(hold);
    }

    void end(boolean isAnswered) {
        try {
            afterwards.run();
        } finally {
            ended.complete(isAnswered);
        }
    }

    /** Does not fail: whether the store has answered. */
    CompletableFuture<Boolean> ended() {
        return ended;
    }

    static boolean isUnsent(Throwable failure) {
        return failure instanceof LockStorageException storage
                && storage.failure() == LockStorageException.Failure.NOT_SENT;
    }

    /** Unless it is known that the store refuses it. Where a connection breaks, all that is kept is released just then. */
    static boolean mayBeHeldStill(Throwable failure) {
        return !(failure instanceof LockStorageException storage)
                || storage.failure() != LockStorageException.Failure.DENIED;
    }
}
