package dev.latchkey.zookeeper;

/**
 * Until when a session is known to live, by the requests of it that a quorum of the servers has carried out.
 *
 * <p>Of each it is known when it was sent and answered. The leader has not necessarily heard of the session then: the
 * server of the client tells it twice a tick, which is once in a quarter of the session timeout at the least, for no server
 * grants less than two ticks. So when a request was sent at least a quarter of the timeout after another one had been
 * answered, and was carried out, the leader has heard of that other one, and keeps the session for a whole timeout from when
 * that was sent. A quarter counted from there would prove nothing: both may have been on their way for long, and have come
 * to the server at one moment. As long as there is no such pair, after a pause in which only the client's own pings went
 * out, half of the timeout is sure, less what this process may have stood still: those come once in a third of it, or more
 * often, and with a timeout of three ticks their news takes a sixth more. Thread-safe.
 */
final class SessionProof {

    /** Longer than any session timeout. */
    private static final long LONG_AGO_NANOS = Long.MAX_VALUE / 4;

    /** When the newest was sent, less what may have been missing before. */
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

    /** Of a session that did not exist yet then: the leader heard of it, for the first time, later. */
    static SessionProof ofNewSession(long beforeNanos) {
        return new SessionProof(beforeNanos);
    }

    /** Of a session of which nothing is known. */
    static SessionProof none() {
        return new SessionProof(System.nanoTime() - LONG_AGO_NANOS);
    }

    /** A request was carried out that was sent and answered then; the process may have stood still for as long before. */
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
     * Adds one that is answered now, unless the servers may have ended the session by now, which somebody may have seen: then
     * nothing is added, and what the session carries is to be given up before it is.
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
     * Whether what is known, and what a request would prove that is sent now, may be over before another one a quarter later
     * is answered.
     */
    synchronized boolean isTooLittle(long nowNanos, long timeoutNanos, long frozenNanos) {
        long needed = nowNanos + timeoutNanos / 4 + timeoutNanos / 16;
        long likely = nowNanos - frozenNanos + timeoutNanos / 2;
        return heard + timeoutNanos - needed < 0 && likely - needed < 0;
    }

    /** When the servers may end the session at the earliest. */
    synchronized long endNanos(long timeoutNanos) {
        long known = heard + timeoutNanos;
        long likely = newest + timeoutNanos / 2;
        return known - likely > 0 ? known : likely;
    }

    /**
     * When the session is to be proven again: when the next request is due, and before the end in any case, which comes first
     * if the first answer was on its way for more than a quarter.
     */
    synchronized long beatNanos(long timeoutNanos) {
        long dueNanos = dueNanos(timeoutNanos);
        long latest = endNanos(timeoutNanos) - timeoutNanos / 8;
        return dueNanos - latest < 0 ? dueNanos : latest;
    }

    /** When the next request is due, a quarter after that which counts was answered. */
    synchronized long dueNanos(long timeoutNanos) {
        return earlierAnswered + timeoutNanos / 4;
    }
}
