package dev.latchkey.sticky;

import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;

/** One who waits here for a resource; guarded by its line. */
final class LocalWaiter {

    private final Request request;
    private final Condition changed;
    private Response.@Nullable Granted granted;
    private boolean withdrawn;
    private boolean looksForEnds;

    LocalWaiter(Request request, Condition changed) {
        this.request = request;
        this.changed = changed;
    }

    /** Whether it holds already, and those behind it may wait for that. */
    boolean isPromoter() {
        return request.key().held().isPresent();
    }

    Request request() {
        return request;
    }

    /** What was passed on to it; null if nothing was. */
    Response.@Nullable Granted granted() {
        return granted;
    }

    void grant(Response.Granted passedOn) {
        granted = passedOn;
        changed.signal();
    }

    boolean isWithdrawn() {
        return withdrawn;
    }

    void withdraw() {
        withdrawn = true;
        changed.signal();
    }

    void wake() {
        changed.signal();
    }

    /** Waits until it is woken, or the time is over, or for no reason: the caller looks again. */
    @SuppressWarnings("WaitNotInLoop")
    void await(long nanos) throws InterruptedException {
        looksForEnds = false;
        long unused = changed.awaitNanos(nanos);
    }

    /** As {@link #await}, where the time is over when a hold may have ended. */
    @SuppressWarnings("WaitNotInLoop")
    void awaitEnd(long nanos) throws InterruptedException {
        looksForEnds = true;
        long unused = changed.awaitNanos(nanos);
    }

    /** Whether it wakes by itself when nobody releases. */
    boolean looksForEnds() {
        return looksForEnds;
    }
}
