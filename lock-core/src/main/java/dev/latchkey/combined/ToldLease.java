package dev.latchkey.combined;

import dev.latchkey.spi.Lease;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The lease that the caller of one hold was told last, and the wait for its end. Guarded by the hold. */
final class ToldLease {

    private final Quorum quorum;
    private @Nullable Lease last;

    private CompletableFuture<Void> end = new CompletableFuture<>();

    ToldLease(Quorum quorum) {
        this.quorum = quorum;
    }

    Optional<Lease> last() {
        return Optional.ofNullable(last);
    }

    /** What parts have to last for; empty where that says nothing. */
    Optional<Lease> bound() {
        return last().filter(lease -> quorum.isMixed());
    }

    boolean wasOverAt(long nanoTime) {
        return last().filter(lease -> lease.since().isPresent())
                .filter(lease -> CombinedLease.end(lease) - nanoTime < 0)
                .isPresent();
    }

    void tell(Lease lease) {
        last = lease;
        stopWaiting();
    }

    /** Runs an action at the end of what was told last, on another thread, if something has to be ended then. */
    void atItsEnd(Runnable action) {
        bound().filter(lease -> lease.since().isPresent()).ifPresent(lease -> {
            long rest = Math.max(0, CombinedLease.end(lease) - System.nanoTime());
            end = new CompletableFuture<Void>().completeOnTimeout(null, rest + 1, TimeUnit.NANOSECONDS);
            var unused = end.thenRunAsync(action, quorum.leaseEnds());
        });
    }

    void stopWaiting() {
        end.cancel(false);
    }
}
