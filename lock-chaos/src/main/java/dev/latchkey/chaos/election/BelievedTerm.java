package dev.latchkey.chaos.election;

import java.time.Duration;
import java.util.OptionalLong;

/**
 * One term, as its leader believed in it: certainly from the first moment to the last one, on the clock of the machine.
 *
 * @param who the process
 * @param number of the term
 * @param since when it looked first
 * @param until when it looked last, and still believed
 * @param returned when its callback returned; empty if it has not, as that of a process that was killed
 */
record BelievedTerm(String who, long number, long since, long until, OptionalLong returned) {

    /** Whether its callback returned within the stop time, but not before that of a later term began. */
    boolean isInTimeBeside(BelievedTerm later, Duration stopTime) {
        return returned.isPresent()
                && returned.getAsLong() - until <= stopTime.toNanos()
                && returned.getAsLong() - later.since >= 0;
    }

    @Override
    public String toString() {
        return "%s in term %d, for %.3f s".formatted(who, number, (until - since) / 1e9);
    }
}
