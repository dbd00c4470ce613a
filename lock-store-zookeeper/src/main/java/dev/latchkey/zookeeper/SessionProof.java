package dev.latchkey.zookeeper;

/**
 * Computes until when a session is known to live, from its requests that a quorum has committed.
 *
 * <p>A commit alone does not prove that the leader has heard from the session: the client's server reports sessions to it
 * twice a tick, which is at least once per quarter of the session timeout, since no server grants less than two ticks. If a
 * request was sent at least a quarter of the timeout after another one had been answered, and was committed, the leader has
 * heard of the earlier one, and keeps the session for a whole timeout from when that was sent. The quarter counts from the
 * answer: both may have been delayed, and have come to the server at one moment. Before there is such a pair, after a pause
 * in which only the client's pings were sent, half of the timeout is certain, less the time that this process may have
 * stood still: pings are sent at least once per third of the timeout, and with a timeout of three ticks the report takes
 * another sixth. Thread-safe.
 */
final class SessionProof {

    /** Longer than any session timeout. */
    private static final long LONG_AGO_NANOS = Long.MAX_VALUE / 4;

    /** When the newest request was sent, less the freeze before it. */
    private long newest;

    private long earlier;
    private long earlierAnswered;
    private long heard;

    private SessionProof(long nanos) {
        this.newest = nanos;
        this.earlier = nanos;
        this.earlierAnswered = nanos;
        this.heard = nanos;
    }

    /** For a session that was created after the given time. */
    static SessionProof ofNewSession(long beforeNanos) {
        return new SessionProof(beforeNanos);
    }

    /** For a session of which nothing is known. */
    static SessionProof none() {
        return new SessionProof(System.nanoTime() - LONG_AGO_NANOS);
    }

    /** Adds a committed request, with the longest time that the process may have stood still before. */
    synchronized void add(long sentNanos, long answeredNanos, long timeoutNanos, long frozenNanos) {
        if (sentNanos - frozenNanos - newest > 0) {
            newest = sentNanos - frozenNanos;
        }
        if (sentNanos - earlierAnswered >= timeoutNanos / 4) {
            heard = earlier;
            earlier = sentNanos;
            earlierAnswered = answeredNanos;
        }
    }

    /**
     * Adds a request that is answered now, and returns true. If the servers may have ended the session by now, adds nothing
     * and returns false: the caller ends the holds of the session first.
     */
    synchronized boolean addUnlessOver(long sentNanos, long timeoutNanos, long frozenNanos) {
        long now = System.nanoTime();
        boolean isOver = now - endNanos(timeoutNanos) >= 0;
        if (!isOver) {
            add(sentNanos, now, timeoutNanos, frozenNanos);
        }
        return !isOver;
    }

    /**
     * Returns whether neither what is known nor a request that is sent now proves the session for long enough to send
     * another request a quarter of the timeout later.
     */
    synchronized boolean isTooLittle(long nowNanos, long timeoutNanos, long frozenNanos) {
        long needed = nowNanos + timeoutNanos / 4 + timeoutNanos / 16;
        long likely = nowNanos - frozenNanos + timeoutNanos / 2;
        return heard + timeoutNanos - needed < 0 && likely - needed < 0;
    }

    /** Returns when the servers may end the session at the earliest. */
    synchronized long endNanos(long timeoutNanos) {
        long known = heard + timeoutNanos;
        long likely = newest + timeoutNanos / 2;
        return known - likely > 0 ? known : likely;
    }

    /**
     * Returns when to prove the session again: when the next request is due, but before the end. The end comes first if an
     * answer took more than a quarter of the timeout.
     */
    synchronized long beatNanos(long timeoutNanos) {
        long dueNanos = dueNanos(timeoutNanos);
        long latest = endNanos(timeoutNanos) - timeoutNanos / 8;
        return dueNanos - latest < 0 ? dueNanos : latest;
    }

    /** Returns when the next request is due: a quarter of the timeout after the last one that counts was answered. */
    synchronized long dueNanos(long timeoutNanos) {
        return earlierAnswered + timeoutNanos / 4;
    }
}
