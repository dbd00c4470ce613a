package dev.latchkey.sticky;

import dev.latchkey.spi.Lease;
import dev.latchkey.threads.FactoryThreads;
import java.util.OptionalLong;

/**
 * Hears from the store that a hold is lost, or that others ask for it. Its threads call this, and none that waits: what is idle is
 * released at once, the rest when those who hold under it release it, or by the time at which that ends.
 */
final class RecallListener {

    private final LineReleases releases;
    private final FactoryThreads threads;

    RecallListener(LineReleases releases, FactoryThreads threads) {
        this.releases = releases;
        this.threads = threads;
    }

    void listen(StickyLine line, KeptHold kept) {
        Lease lease = kept.lease();
        lease.lost()
                .ifPresent(lost -> lost.thenAccept(reason -> line.lose(kept).forEach(told -> told.complete(reason))));
        lease.recalled().ifPresent(recalled -> recalled.thenRun(() -> recalled(line, kept)));
    }

    /** A Lock holds under it from now on that nobody knew of when it was recalled. */
    void begun(StickyLine line, KeptHold kept) {
        if (line.isRecalled(kept)) {
            lookAgain(line, kept);
        }
    }

    private void recalled(StickyLine line, KeptHold kept) {
        if (line.recall(kept)) {
            releases.releaseLater(line, kept);
        } else if (kept.isTimed()) {
            lookAgain(line, kept);
        }
    }

    /** A hold may end by its time, without a release that would end what is recalled. */
    private void lookAgain(StickyLine line, KeptHold recalled) {
        OptionalLong next = line.nextEndNanos(recalled);
        if (next.isPresent()) {
            var unused = threads.alarmIn(next.getAsLong() - System.nanoTime(), () -> lookAgain(line, recalled));
        } else if (line.endOverdue(recalled)) {
            releases.releaseUnkeptLater(line, recalled);
        } else {
            releases.releaseLater(line, line.due());
        }
    }
}
