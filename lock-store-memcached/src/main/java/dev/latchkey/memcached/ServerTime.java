package dev.latchkey.memcached;

import dev.latchkey.spi.LocalProcess;

/**
 * The server's time for all that one attempt stores. It is taken once, before anything is written, so that an item and the end
 * that its text names are counted from the same second.
 *
 * @param now the second, in the run of the server that counts it
 */
record ServerTime(LeaseEnd now, Counting counting) {

    /** How the server is told when an item ends. */
    enum Counting {
        /** By a number of seconds: its clock is right, or not known. */
        SECONDS,
        /** By a date, by whichever clock it stores it. */
        DATE
    }

    /** A server that does not tell its clock, as a proxy. */
    static final ServerTime UNKNOWN = new ServerTime(LeaseEnd.UNKNOWN, Counting.SECONDS);

    /** What to send for an item that lasts so many seconds. Dates that do not fit the protocol are sent as seconds. */
    int expiry(int seconds) {
        long date = now.second() + seconds;
        boolean isDate = counting == Counting.DATE
                && seconds < TtlSeconds.LONG_AGO
                && date > TtlSeconds.LONG_AGO
                && date <= Integer.MAX_VALUE;
        return isDate ? (int) date : seconds;
    }

    /** Until when a hold lasts at least that is stored for so many seconds. */
    HoldRecord lasting(int seconds) {
        LeaseEnd end = now.equals(LeaseEnd.UNKNOWN) ? now : new LeaseEnd(now.run(), now.second() + seconds);
        return new HoldRecord(end, LocalProcess.description());
    }
}
