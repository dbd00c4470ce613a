package dev.latchkey.redis;

import java.util.concurrent.TimeUnit;

/**
 * A place in the queue, as of the last answer.
 *
 * @param sinceNanos a time before the question was sent
 * @param serverMicros the server's time when it answered
 * @param generation of the connection then
 */
record QueuePosition(long sinceNanos, long serverMicros, int generation) {

    private static final int OF_NO_CONNECTION = -1;

    /** The same, with a time that is compared with no other. */
    QueuePosition outdated() {
        return new QueuePosition(sinceNanos, serverMicros, OF_NO_CONNECTION);
    }

    /** The time of this JVM from which on a grant counts: not later than the server began to count. */
    long since(GrantMessage.Grant grant) {
        if (grant.sinceNanos().isPresent()) {
            return grant.sinceNanos().getAsLong();
        }
        long latest = sinceNanos + TimeUnit.MICROSECONDS.toNanos(grant.atMicros() - serverMicros);
        long now = System.nanoTime();
        return latest - now > 0 ? now : latest;
    }
}
