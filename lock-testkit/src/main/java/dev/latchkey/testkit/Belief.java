package dev.latchkey.testkit;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/** One term, as its leader believes in it: certain from its first look to its last one, on the monotonic clock. */
final class Belief {

    /** How its callback ends before the term does. */
    enum Ending {
        RETURN,
        FAIL
    }

    private final String who;
    private final long number;
    private final long since = System.nanoTime();
    private final AtomicLong until = new AtomicLong(since);
    private volatile Optional<Ending> ending = Optional.empty();

    Belief(String who, long number) {
        this.who = who;
        this.number = number;
    }

    /** It was believed after this moment, and therefore at it. */
    void seenAfter(long nanoTime) {
        until.set(nanoTime);
    }

    /** Has the callback end in this way. */
    void endBy(Ending how) {
        ending = Optional.of(how);
    }

    Optional<Ending> ending() {
        return ending;
    }

    String who() {
        return who;
    }

    long number() {
        return number;
    }

    boolean overlaps(Belief other) {
        return until.get() - other.since > 0 && other.until.get() - since > 0;
    }

    long since() {
        return since;
    }

    @Override
    public String toString() {
        return who + " in term " + number + " from " + since + " to " + until;
    }
}
