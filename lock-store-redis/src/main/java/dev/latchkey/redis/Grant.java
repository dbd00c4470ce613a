package dev.latchkey.redis;

import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * What a message, or the reply to a release, tells a waiter that it was granted.
 *
 * @param atMicros when the lease began, by the server's clock
 * @param ttlMillis how long it is
 * @param fence the fencing token
 * @param sinceNanos a time of this JVM before the lease began, if one is known
 */
record Grant(long atMicros, long ttlMillis, long fence, OptionalLong sinceNanos) {

    /** Reads {@code <attempt> <want> <us> <ttl ms> <fence>}; returns null for anything else. */
    static @Nullable Grant read(String[] message) {
        if (message.length != 5) {
            return null;
        }
        try {
            return new Grant(
                    Long.parseLong(message[2]),
                    Long.parseLong(message[3]),
                    Long.parseLong(message[4]),
                    OptionalLong.empty());
        } catch (NumberFormatException e) {
            return null;
        }
    }
}
