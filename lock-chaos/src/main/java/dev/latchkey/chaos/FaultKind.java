package dev.latchkey.chaos;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

/** What can go wrong. */
enum FaultKind {
    /** SIGKILL to a process, and another in its place. */
    CRASH(Lane.PROCESSES, 2),
    /** SIGSTOP to a process, and SIGCONT later. */
    FREEZE(Lane.PROCESSES, 5),
    /** SIGSTOP to all processes for longer than any lease, as when the machine they run on is suspended; then SIGCONT to all. */
    SUSPEND(Lane.PROCESSES, 1, Workload.LONGEST_TTL),
    /** All connections of a process are reset; it may connect again at once. */
    CUT(Lane.BACKEND, 4),
    /** The same, and new connections are reset for a while. */
    REFUSE(Lane.BACKEND, 2),
    /** Nothing is delivered for a while, in both directions; then all of it. */
    SILENCE(Lane.BACKEND, 3),
    /** What processes send arrives, and the answers are held back for a while; then all of them are delivered. */
    MUTE(Lane.BACKEND, 3),
    /** All is delivered late for a while. */
    SLOW(Lane.BACKEND, 3),
    /** The server does what it is asked for next, and the connection breaks in place of the answer. */
    LOST_REPLY(Lane.BACKEND, 4),
    /** A connection breaks in place of what the server would be asked for next. */
    LOST_REQUEST(Lane.BACKEND, 2),
    /** The next message to a subscriber is gone, and the connection stays. */
    LOST_MESSAGE(Lane.BACKEND, 2),
    /** A connection breaks in place of the next message to a subscriber. */
    CUT_AT_MESSAGE(Lane.BACKEND, 1),
    /** The server forgets the scripts that it knows. */
    FLUSH_SCRIPTS(Lane.BACKEND, 1),
    /** The server resets the connections of all subscribers. */
    CUT_SUBSCRIBERS(Lane.BACKEND, 1),
    /** The server resets all connections but those of subscribers. */
    CUT_CLIENTS(Lane.BACKEND, 1),
    /** SIGKILL to a server, which comes back with its data. */
    RESTART(Lane.BACKEND, 2),
    /** SIGKILL to a server, which comes back empty. */
    FORGET(Lane.BACKEND, 2),
    /** SIGSTOP to a server, and SIGCONT later. */
    PAUSE(Lane.BACKEND, 2),
    /** The same to all servers but one. */
    PAUSE_MOST(Lane.BACKEND, 2),
    /** SIGKILL to all servers but one, which come back with their data. */
    RESTART_MOST(Lane.BACKEND, 2),
    /** SIGSTOP to the server that leads, for longer than the others wait for it; then SIGCONT. */
    DEPOSE(Lane.BACKEND, 3, Duration.ofSeconds(2)),
    /** The replica takes over with all data; the master becomes its replica, and keeps its connections. */
    FAILOVER(Lane.BACKEND, 3),
    /** The server refuses to write for a while. */
    READONLY(Lane.BACKEND, 2),
    /** Some keys are gone, as if they had been evicted. */
    EVICT(Lane.BACKEND, 2);

    /** Faults of one lane come one after the other; those of different lanes at the same time. */
    enum Lane {
        PROCESSES,
        BACKEND
    }

    private static final Set<FaultKind> OUTAGES_OF_ALL = EnumSet.of(FREEZE, SUSPEND, PAUSE_MOST, RESTART_MOST);
    private static final Set<FaultKind> OUTAGES_OF_ONE =
            EnumSet.of(REFUSE, SILENCE, MUTE, RESTART, FORGET, PAUSE, DEPOSE, FAILOVER, READONLY);

    private final Lane lane;
    private final int weight;
    private final Duration atLeast;

    FaultKind(Lane lane, int weight) {
        this(lane, weight, Duration.ZERO);
    }

    FaultKind(Lane lane, int weight, Duration atLeast) {
        this.lane = lane;
        this.weight = weight;
        this.atLeast = atLeast;
    }

    Lane lane() {
        return lane;
    }

    /** Whether a process that is struck can ask no server for anything until it is healed, however many there are. */
    boolean isOutageOfAll() {
        return OUTAGES_OF_ALL.contains(this);
    }

    /** Whether it cannot ask the server that is struck. */
    boolean isOutageOfOne() {
        return OUTAGES_OF_ONE.contains(this);
    }

    /** How long it lasts if it would otherwise last for so long. */
    int lasting(int millis) {
        return Math.toIntExact(atLeast.toMillis()) + millis;
    }

    /** How likely it is beside the others of its lane. */
    int weight() {
        return weight;
    }
}
