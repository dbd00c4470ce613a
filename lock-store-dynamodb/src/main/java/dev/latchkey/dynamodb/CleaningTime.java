package dev.latchkey.dynamodb;

import java.time.Duration;
import java.time.Instant;

/**
 * From when on DynamoDB may delete the item of a resource that was released, by its own clock. It is written for DynamoDB alone:
 * no store reads it, and what is held has none. A wrong clock of a client delays a deletion or has it come earlier.
 */
final class CleaningTime {

    static final Duration RETENTION = Duration.ofDays(7);

    private CleaningTime() {}

    /** In seconds since 1970, as DynamoDB wants it. */
    static long fromNow() {
        return Instant.now().plus(RETENTION).getEpochSecond();
    }
}
