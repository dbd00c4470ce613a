package dev.latchkey.chaos;

import java.util.EnumSet;
import java.util.Set;

/** What can go wrong. */
enum FaultKind {
    /** SIGKILL to a process, and another in its place. */
    CRASH(Lane.PROCESSES, 2),
    /** SIGSTOP to a process, and SIGCONT later. */
    FREEZE(Lane.PROCESSES, 5),
    /** All connections of a process are reset; it may connect again at once. */
    CUT(Lane.BACKEND, 4),
    /** The same, and new connections are reset for a while. */
    REFUSE(Lane.BACKEND, 2),
    /** Nothing is delivered for a while, in both directions; then all of it. */
    SILENCE(Lane.BACKEND, 3),
    /** All is delivered late for a while. */
    SLOW(Lane.BACKEND, 3),
    /** The server does what it is asked for next, and the connection breaks in place of the answer. */
    LOST_REPLY(Lane.BACKEND, 4),
    /** SIGKILL to a server, which comes back with its data. */
    RESTART(Lane.BACKEND, 2),
    /** SIGKILL to a server, which comes back empty. */
    FORGET(Lane.BACKEND, 2),
    /** SIGSTOP to a server, and SIGCONT later. */
    PAUSE(Lane.BACKEND, 2);

    /** Faults of one lane come one after the other; those of different lanes at the same time. */
    enum Lane {
        PROCESSES,
        BACKEND
    }

    private static final Set<FaultKind> OUTAGES = EnumSet.of(FREEZE, REFUSE, SILENCE, RESTART, FORGET, PAUSE);

    private final Lane lane;
    private final int weight;

    FaultKind(Lane lane, int weight) {
        this.lane = lane;
        this.weight = weight;
    }

    Lane lane() {
        return lane;
    }

    /** Whether a process that is struck can ask no server for anything until it is healed. */
    boolean isOutage() {
        return OUTAGES.contains(this);
    }

    /** How likely it is beside the others of its lane. */
    int weight() {
        return weight;
    }
}
