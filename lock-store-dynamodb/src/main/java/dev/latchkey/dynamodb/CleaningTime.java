package dev.latchkey.dynamodb;

import java.time.Duration;
import java.time.Instant;

/**
 * From when on DynamoDB may delete an item, by its own clock. It is written for DynamoDB alone: no store reads it, so a wrong
 * clock of a client delays a deletion, or has it come earlier within the week.
 */
final class CleaningTime {

    static final Duration RETENTION = Duration.ofDays(7);

    /** The year 9999. */
    private static final long LATEST = 253_402_300_799L;

    private CleaningTime() {}

    /** In seconds since 1970, as DynamoDB wants it. */
    static long after(Duration lease) {
        return Math.min(LATEST, Instant.now().getEpochSecond() + lease.toSeconds() + RETENTION.toSeconds());
    }
}
