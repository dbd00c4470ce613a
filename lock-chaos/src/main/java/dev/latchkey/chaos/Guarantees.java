package dev.latchkey.chaos;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Map;

/**
 * What a store's page in {@code docs/stores} says, as far as the judge needs it.
 *
 * @param bound until when a holder may believe in its hold
 * @param fencing whether it has fencing tokens
 * @param effects of faults on holds, where the page takes something back; any other fault must not show
 * @param servers whether one that is out of reach is to be noticed
 * @param handoff after what time a lock that is free must have gone to who waits, when nothing strikes
 * @param order whether those who wait are served in the order of their arrival
 * @param patience after what time a wait counts as starved, that of outages not counted; {@link #UNFAIR} if never
 * @param words what is not promised, for the report; empty if there is nothing
 */
record Guarantees(
        Bound bound,
        Fencing fencing,
        Map<FaultKind, Effect> effects,
        Servers servers,
        Duration handoff,
        Order order,
        Duration patience,
        String words) {

    /** One process may have the lock again and again, and keep others out: the page does not promise fairness between them. */
    static final Duration UNFAIR = ChronoUnit.FOREVER.getDuration();

    enum Bound {
        /** Its lease by its own clock: a frozen or killed holder is one until then. */
        LEASE,
        /** The life of its process: a frozen holder is one, a killed holder is none. */
        PROCESS,
        /** A session whose end it is told: a holder as long as {@code isExpired()} has said so. */
        SESSION
    }

    enum Fencing {
        TOKENS,
        NONE
    }

    enum Order {
        OF_ARRIVAL,
        NONE
    }

    enum Effect {
        NONE,
        /** The store has forgotten what it granted before, and the holder may not know: its holds are judged until then. */
        ENDS_HOLDS,
        /** What was asked for meanwhile may end early, and the holder may not know. */
        SPOILS_CALLS
    }

    enum Servers {
        /** Nobody can be granted anything without it. */
        ONE,
        /** The others are enough. */
        QUORUM
    }

    /** Whether a wait need not end while a process is struck by such a fault. */
    boolean isOutage(FaultKind kind) {
        return kind.isOutageOfAll() || (kind.isOutageOfOne() && servers == Servers.ONE);
    }

    Effect effect(FaultKind kind) {
        return effects.getOrDefault(kind, Effect.NONE);
    }
}
