package dev.latchkey.memcached;

import java.time.Duration;

/** TTLs as Memcached takes them. */
final class Seconds {

    /** Beyond 30 days Memcached takes a number for a date. */
    private static final int LONGEST = 30 * 24 * 60 * 60;

    /** A date that was over before any server was started: what is stored with it is gone at once, in both protocols. */
    static final int LONG_AGO = LONGEST + 1;

    private Seconds() {}

    /**
     * The number of seconds that ends no sooner than the TTL: rounded up, and one more, as the server counts the ticks of a
     * clock that may tick right after the item was stored.
     */
    static int lastingAtLeast(Duration ttl) {
        long whole = ttl.getSeconds() + (ttl.getNano() > 0 ? 1 : 0);
        if (whole >= LONGEST) {
            throw new IllegalArgumentException("a TTL of " + ttl + " is longer than Memcached can keep: it must be at"
                    + " most " + Duration.ofSeconds(LONGEST - 1L) + ", a second less than 30 days");
        }
        return (int) whole + 1;
    }
}
