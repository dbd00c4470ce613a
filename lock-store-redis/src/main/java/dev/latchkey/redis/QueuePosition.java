package dev.latchkey.redis;

import java.util.concurrent.TimeUnit;

/**
 * A place in the queue, as of the last answer.
 *
 * @param sinceNanos a time before the request was sent
 * @param serverMicros the server's time when it answered
 * @param generation of the connection then
 */
record QueuePosition(long sinceNanos, long serverMicros, int generation) {

    private static final int OF_NO_CONNECTION = -1;
    private static final long EXACT_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Returns the same place, with a time that no grant is measured by. */
    QueuePosition outdated() {
        return new QueuePosition(sinceNanos, serverMicros, OF_NO_CONNECTION);
    }

    /** Whether the time of a grant can be compared with that of this place: both are of one server's clock. */
    boolean canDate(Grant grant, int currentGeneration) {
        return generation == currentGeneration && grant.atMicros() >= serverMicros;
    }

    /**
     * Whether this is the better measure of the server's clock. The time of the answer is later than that of the request by what the
     * request took to get there, which differs; clocks that drift make an old measure a worse one.
     */
    boolean isMoreExactThan(QueuePosition other) {
        if (generation != other.generation) {
            return generation > other.generation;
        }
        long passed = sinceNanos - other.sinceNanos;
        return passed > EXACT_NANOS || serverMicros - other.serverMicros < TimeUnit.NANOSECONDS.toMicros(passed);
    }

    /** Returns the server's time at a time of this JVM, in microseconds; 0 if it is that of another connection. */
    long microsAt(long nanos, int currentGeneration) {
        return generation == currentGeneration ? serverMicros + TimeUnit.NANOSECONDS.toMicros(nanos - sinceNanos) : 0;
    }

    /** Returns a time of this JVM from which the grant counts, not later than the server began to count. */
    long since(Grant grant) {
        if (grant.sinceNanos().isPresent()) {
            return grant.sinceNanos().getAsLong();
        }
        long latest = sinceNanos + TimeUnit.MICROSECONDS.toNanos(grant.atMicros() - serverMicros);
        long now = System.nanoTime();
        return latest - now > 0 ? now : latest;
    }
}
