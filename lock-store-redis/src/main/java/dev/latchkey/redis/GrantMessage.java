package dev.latchkey.redis;

import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A message to a waiter.
 *
 * @param attempt who it is for
 * @param grant what it was granted; null if it is only to ask
 */
record GrantMessage(String attempt, @Nullable Grant grant) {

    /**
     * A hold that began at a time of the server's.
     *
     * @param atMicros when, by the server's clock
     * @param ttlMillis for how long
     * @param fence the fencing token
     * @param sinceNanos a time of this JVM before that, where one is known
     */
    record Grant(long atMicros, long ttlMillis, long fence, OptionalLong sinceNanos) {}

    /**
     * Reads {@code <attempt> <want> <us> <ttl ms> <fence>}, {@code <attempt> ?} or {@code <attempt> .}
     *
     * @return null for what only looks whether anybody listens, and for what is not ours
     */
    static @Nullable GrantMessage read(String text) {
        String[] parts = text.split(" ", -1);
        if (parts.length == 2 && parts[1].equals("?")) {
            return new GrantMessage(parts[0], null);
        }
        if (parts.length != 5) {
            return null;
        }
        try {
            return new GrantMessage(
                    parts[0],
                    new Grant(
                            Long.parseLong(parts[2]),
                            Long.parseLong(parts[3]),
                            Long.parseLong(parts[4]),
                            OptionalLong.empty()));
        } catch (NumberFormatException e) {
            return null;
        }
    }
}
