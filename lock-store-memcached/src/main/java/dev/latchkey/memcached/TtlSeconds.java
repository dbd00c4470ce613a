package dev.latchkey.memcached;

import java.time.Duration;

/** TTLs as Memcached takes them. */
final class TtlSeconds {

    /** Beyond 30 days Memcached takes a number for a date. */
    private static final int LONGEST = 30 * 24 * 60 * 60;

    /** A date that was over before any server was started: what is stored with it is gone at once, in both protocols. */
    static final int LONG_AGO = LONGEST + 1;

    /** By how much the server's clock may be behind when an item is stored: see {@link ServerClock}. */
    static final long SLACK = 3;

    private TtlSeconds() {}

    /**
     * The number of seconds that ends no sooner than the TTL: rounded up, and three more. The server counts by a clock that it
     * sets about once a second, to the whole second that it then is, and so is up to two seconds behind; a third may pass
     * before a client knows that the clock is not set any more.
     */
    static int lastingAtLeast(Duration ttl) {
        long whole = ttl.getSeconds() + (ttl.getNano() > 0 ? 1 : 0);
        if (whole + SLACK > LONGEST) {
            throw new IllegalArgumentException("a TTL of " + ttl + " is longer than Memcached can keep: it must be at"
                    + " most " + Duration.ofSeconds(LONGEST - SLACK) + ", three seconds less than 30 days");
        }
        return (int) (whole + SLACK);
    }
}
