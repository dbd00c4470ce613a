package dev.latchkey.chaos;

import java.time.Duration;

/**
 * How faults and quiet times take turns. How soon a lock is handed over, and that nothing fails without a reason, shows only when
 * nothing strikes.
 *
 * @param storm how long faults strike
 * @param calm how long none does, then
 */
record FaultSchedule(Duration storm, Duration calm) {

    /** For trials of stores. */
    static final FaultSchedule CHANGING = new FaultSchedule(Duration.ofSeconds(10), Duration.ofSeconds(14));

    /** For trials of the judge: what is planted shows best when little strikes. */
    static final FaultSchedule FAIR = new FaultSchedule(Duration.ofSeconds(4), Duration.ofSeconds(26));

    /** Returns when a fault may strike that is to strike at a time, or later, so that it is over before the next calm. */
    long earliest(long atMillis, int lastsMillis) {
        long period = storm.plus(calm).toMillis();
        long within = atMillis % period;
        boolean fits = within == 0 || within + lastsMillis <= storm.toMillis();
        return fits ? atMillis : atMillis - within + period;
    }
}
