package dev.latchkey;

import java.time.Duration;

/**
 * Hears what the locks of one factory do, for metrics and logs. Every method does nothing unless it is overridden.
 *
 * <p>The listeners of a factory are called one event after the other, about 10 ms late, on one thread of the factory that
 * does nothing else. No call of a Lock waits for a listener, and none can be called while something of the Lock is guarded:
 * a listener may use the Lock that it hears of. For each {@link #acquiring} one of {@link #acquired}, {@link #conflicted} and
 * {@link #failed} comes, and for each {@link #held} one of {@link #released} and {@link #lost}. What a listener throws is logged, and does not
 * reach other listeners or callers. A listener that does not return keeps all others from being called: after 100,000
 * undelivered events, further ones are dropped, which is logged, and counted for {@link #dropped}. What was told to begin is told to
 * end all the same. {@link LockFactory#close()} does not wait for
 * listeners; they hear of what it releases after it has returned, unless the JVM exits before.
 *
 * <p>An event may get further components in a later version: do not match it by a record pattern.
 */
public interface LockListener {

    /**
     * A call asks for a lock. It ends with {@link #acquired}, {@link #conflicted} or {@link #failed}.
     *
     * @param event what it asks for
     */
    default void acquiring(Acquiring event) {}

    /**
     * A call has acquired a lock, also one that its Lock held already.
     *
     * @param event what was acquired
     */
    default void acquired(Acquired event) {}

    /**
     * A call has not acquired a lock, although nothing failed.
     *
     * @param event what was not acquired
     */
    default void conflicted(Conflicted event) {}

    /**
     * A call that asked for a lock has thrown: the store failed or did not answer, the thread was interrupted, or an earlier
     * hold of the Lock was lost.
     *
     * @param event what was not acquired
     */
    default void failed(Failed event) {}

    /**
     * A hold begins: a Lock has acquired what it did not hold, or has found for the first time that the key from which it was
     * created holds something.
     *
     * @param event the begin of the hold
     */
    default void held(Held event) {}

    /**
     * A hold has been given up by its holder.
     *
     * @param event the end of the hold
     */
    default void released(Released event) {}

    /**
     * A hold has ended without a release. It is told when this is noticed: about a second after the end of its lease if
     * nothing notices it sooner.
     *
     * @param event the end of the hold
     */
    default void lost(Lost event) {}

    /**
     * The lease of a hold starts again, by the factory or by {@link Lock#refresh()}.
     *
     * @param event how near its end the lease was
     */
    default void renewed(Renewed event) {}

    /**
     * A call to the store has returned or thrown.
     *
     * @param event the call
     */
    default void storeCalled(StoreCalled event) {}

    /**
     * Events were dropped, because a listener had not returned for long. All that are heard again come before this.
     *
     * @param event how many
     */
    default void dropped(Dropped event) {}

    /**
     * See {@link #acquiring}.
     *
     * @param resource the name of what the lock protects
     * @param mode the mode that is asked for
     */
    record Acquiring(String resource, LockMode mode) {}

    /**
     * See {@link #acquired}.
     *
     * @param resource the name of what the lock protects
     * @param mode the mode in which it is held now
     * @param change what the call has changed
     * @param waited how long the call took
     */
    record Acquired(String resource, LockMode mode, Change change, Duration waited) {}

    /** What an acquire has changed. */
    enum Change {
        /** A hold has begun. */
        BEGUN,
        /** A hold from elsewhere goes on with this Lock, which was created from its key. */
        ADOPTED,
        /** The Lock held it already, in the same mode. */
        RENEWED,
        /** The Lock held it shared, and holds it exclusively now. */
        PROMOTED,
        /** The Lock held it exclusively, and holds it shared now. */
        DEMOTED
    }

    /**
     * See {@link #conflicted}.
     *
     * @param resource the name of what the lock protects
     * @param mode the mode that was asked for
     * @param reason why it was not acquired
     * @param waited how long the call took
     */
    record Conflicted(String resource, LockMode mode, LockConflictedException.Reason reason, Duration waited) {}

    /**
     * See {@link #failed}.
     *
     * @param resource the name of what the lock protects
     * @param mode the mode that was asked for
     * @param failure what the call has thrown
     * @param waited how long the call took
     */
    record Failed(String resource, LockMode mode, Throwable failure, Duration waited) {}

    /**
     * See {@link #held}.
     *
     * @param resource the name of what the lock protects
     * @param mode the mode in which it is held
     */
    record Held(String resource, LockMode mode) {}

    /**
     * See {@link #released}.
     *
     * @param resource the name of what the lock protects
     * @param end how it was given up
     * @param held how long it was held by the Lock
     */
    record Released(String resource, End end, Duration held) {}

    /** How a hold was given up. */
    enum End {
        /** It was released, by a call or because its factory was closed. */
        RELEASED,
        /** It was released, but the store failed or did not answer: what it still keeps ends with its lease. */
        RELEASE_FAILED,
        /** It was given away with its key. */
        TRANSFERRED,
        /** Its factory was closed, and leaves it in the store, as the Lock was created without auto-release. */
        LEFT
    }

    /**
     * See {@link #lost}.
     *
     * @param resource the name of what the lock protects
     * @param reason why it ended
     * @param held how long it was held by the Lock
     */
    record Lost(String resource, LossReason reason, Duration held) {}

    /**
     * See {@link #renewed}.
     *
     * @param resource the name of what the lock protects
     * @param slack what was left of the lease when the store had answered
     */
    record Renewed(String resource, Duration slack) {}

    /**
     * See {@link #storeCalled}.
     *
     * @param operation what the store was asked for
     * @param outcome whether it has answered
     * @param duration how long it took; for {@link Operation#WAIT}, with the time in the queue
     */
    record StoreCalled(Operation operation, Outcome outcome, Duration duration) {}

    /**
     * See {@link #dropped}.
     *
     * @param events how many events no listener has heard of, since this was last told
     */
    record Dropped(long events) {}

    /** What a store is asked for. */
    enum Operation {
        /** To acquire without waiting. */
        ACQUIRE,
        /** To acquire, and to wait in the queue of the store. */
        WAIT,
        /** To start leases again, of one hold or of several. */
        REFRESH,
        /** To end a hold. */
        RELEASE,
        /** To end a hold, and grant the lock to a waiter of this process. */
        HAND_OFF,
        /** To say what a key holds. */
        FIND
    }

    /** Whether a store has answered. */
    enum Outcome {
        /** It has answered, whatever the answer. */
        ANSWERED,
        /** It failed or did not answer. */
        FAILED,
        /** The caller was interrupted. */
        INTERRUPTED
    }
}
