package dev.latchkey.combined;

/**
 * Guesses numbers that members which count by their clocks will all accept: a little ahead of the fastest of these clocks,
 * learnt from tokens it gave and carried on with the monotonic clock of this process. A wrong guess costs a second phase,
 * nothing else. Pure: the simulator of the protocol runs it as well. Thread-safe.
 */
final class TokenProposal {

    /** For requests that take longer on their way than those before. */
    private static final long AHEAD_MICROS = 1_000;

    /** However slow an answer was. */
    private static final long FARTHEST_MICROS = 100_000;

    /** Falls behind a little by itself, so that it never runs away from the clocks. */
    private static final int SLOWER_BY = 65_536;

    private long micros;
    private long atNanos;

    /** What all members may accept of a request sent now; zero if there is nothing to go by yet. */
    synchronized long at(long nanos) {
        if (micros == 0) {
            return 0;
        }
        long elapsed = (nanos - atNanos) / 1_000;
        return micros + elapsed - elapsed / SLOWER_BY;
    }

    /**
     * Learns from members that did not accept the same.
     *
     * @param proposal what they were asked for
     * @param greatest the greatest token any of them gave instead
     * @param sentNanos when they were asked
     * @param nanos now
     */
    synchronized void learn(long proposal, long greatest, long sentNanos, long nanos) {
        if (greatest == proposal) {
            // One is behind the others by more than it may follow: running ahead of these would not help.
            return;
        }
        micros = greatest + AHEAD_MICROS + Math.min((nanos - sentNanos) / 1_000, FARTHEST_MICROS);
        atNanos = sentNanos;
    }
}
