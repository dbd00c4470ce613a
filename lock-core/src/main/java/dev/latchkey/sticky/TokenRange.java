package dev.latchkey.sticky;

/**
 * The fencing tokens that a hold of the store leaves to its holder; guarded by the line of its resource. Each hold of this
 * process takes the next one, but none that is ahead of the microseconds since the store has answered: so they stay behind the
 * store's clock, from which it counts on if it loses its data.
 */
final class TokenRange {

    private static final long NANOS_PER_TOKEN = 1_000;

    private long granted;
    private long reserved;
    private long sinceNanos;
    private long last;

    /**
     * Begins with what the store has answered.
     *
     * @param granted the token that is in use
     * @param reserved how many after it may be used
     * @param now when the answer was there
     */
    TokenRange(long granted, long reserved, long now) {
        this.last = granted;
        renew(granted, reserved, now);
    }

    /** Goes on with what the store has answered to a request that claimed a token. */
    void renew(long claimed, long more, long now) {
        granted = claimed;
        reserved = more;
        sinceNanos = now;
        last = Math.max(last, claimed);
    }

    /** The token that was used last. */
    long last() {
        return last;
    }

    boolean isUsedUp() {
        return last - granted >= reserved;
    }

    /** How long the next token is not behind the clock; zero or less if it is due. */
    long nanosToNext(long now) {
        return (last + 2 - granted) * NANOS_PER_TOKEN - (now - sinceNanos);
    }

    long next() {
        return ++last;
    }
}
