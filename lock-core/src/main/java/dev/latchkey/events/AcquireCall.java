package dev.latchkey.events;

import dev.latchkey.LockConflictedException.Reason;
import dev.latchkey.LockListener;
import dev.latchkey.LockListener.Change;
import dev.latchkey.LockMode;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** One call that asks for a lock, from its begin to its end. */
public final class AcquireCall {

    /** How a call ended. */
    public enum Outcome {
        /** The lock is held. */
        GRANTED,
        /** Another key holds it. */
        CONFLICTED,
        /** Another reader waits for promotion. */
        REFUSED,
        /** Another thread closed or released the Lock, transferred its key, or closed its factory. */
        WITHDRAWN,
        /** Another thread used the Lock, and the store was not asked. */
        BUSY,
        /** Granted, but the lease was over when the answer came; it was given back. */
        TOO_LATE,
        /** A release of this process may have passed it on, but was not answered; it was given back. No call ends so. */
        IN_DOUBT;

        private Reason reason() {
            return switch (this) {
                case BUSY -> Reason.BUSY;
                case REFUSED -> Reason.PROMOTION_REFUSED;
                case WITHDRAWN -> Reason.CLOSED_WHILE_WAITING;
                case TOO_LATE -> Reason.GRANTED_TOO_LATE;
                case CONFLICTED, GRANTED, IN_DOUBT -> Reason.HELD_BY_ANOTHER;
            };
        }
    }

    static final AcquireCall UNHEARD = new AcquireCall();

    private final @Nullable EventQueue events;
    private final boolean isBeginHeard;
    private final String resource;
    private final LockMode mode;
    private final long startNanos;
    private final RecordedEvent.@Nullable Acquire recorded;

    private AcquireCall() {
        this.events = null;
        this.isBeginHeard = false;
        this.resource = "";
        this.mode = LockMode.EXCLUSIVE;
        this.startNanos = 0;
        this.recorded = null;
    }

    AcquireCall(EventQueue events, String resource, LockMode mode) {
        this.events = events;
        this.resource = resource;
        this.mode = mode;
        this.startNanos = System.nanoTime();
        this.recorded = FlightRecording.acquire();
        LockListener.Acquiring event = new LockListener.Acquiring(resource, mode);
        this.isBeginHeard = events.add(listener -> listener.acquiring(event));
    }

    /**
     * Returns whether somebody hears of this call.
     *
     * @return false if nothing needs to be told
     */
    public boolean isHeard() {
        return events != null;
    }

    /**
     * The call has acquired the lock.
     *
     * @param held the mode in which it is held
     * @param change what the call has changed
     */
    public void acquired(LockMode held, Change change) {
        if (events != null) {
            Duration waited = ends(held, "acquired");
            LockListener.Acquired event = new LockListener.Acquired(resource, held, change, waited);
            events.addEnd(isBeginHeard, listener -> listener.acquired(event));
        }
    }

    /**
     * The call has not acquired the lock.
     *
     * @param outcome why not
     */
    public void conflicted(Outcome outcome) {
        if (events != null) {
            Duration waited = ends(mode, "conflicted");
            LockListener.Conflicted event = new LockListener.Conflicted(resource, mode, outcome.reason(), waited);
            events.addEnd(isBeginHeard, listener -> listener.conflicted(event));
        }
    }

    /**
     * The call throws.
     *
     * @param failure what it throws
     */
    public void failed(Throwable failure) {
        if (events != null) {
            Duration waited = ends(mode, failure instanceof InterruptedException ? "interrupted" : "failed");
            LockListener.Failed event = new LockListener.Failed(resource, mode, failure, waited);
            events.addEnd(isBeginHeard, listener -> listener.failed(event));
        }
    }

    private Duration ends(LockMode shown, String outcome) {
        long nanos = System.nanoTime() - startNanos;
        if (recorded != null) {
            recorded.end(resource, shown, nanos, outcome);
        }
        return Duration.ofNanos(nanos);
    }
}
