package dev.latchkey.zookeeper;

/**
 * Until when a session is known to live, by the requests of it that a quorum of the servers has carried out.
 *
 * <p>Of each it is known when it was sent. The leader has not necessarily heard of the session then: the server of the
 * client tells it twice a tick, which is once in a quarter of the session timeout at the least, for no server grants less
 * than two ticks. So when two requests were sent at least a quarter of the timeout apart and the second was carried out,
 * the leader has heard of the first, and keeps the session for a whole timeout from then on. As long as there is no such
 * pair, after a pause in which only the client's own pings went out, half of the timeout is sure: those come once in a
 * third of it, or more often, and with a timeout of three ticks their news takes a sixth more. Thread-safe.
 */
final class Proofs {

    /** Longer than any session timeout. */
    private static final long LONG_AGO_NANOS = Long.MAX_VALUE / 4;

    private long newest;
    private long earlier;
    private long heard;

    private Proofs(long nanos) {
        this.newest = nanos;
        this.earlier = nanos;
        this.heard = nanos;
    }

    /** Of a session that does not exist yet: the leader hears of it, for the first time, later than now. */
    static Proofs ofNewSession() {
        return new Proofs(System.nanoTime());
    }

    /** Of a session of which nothing is known. */
    static Proofs none() {
        return new Proofs(System.nanoTime() - LONG_AGO_NANOS);
    }

    /** A request was carried out that was sent then. */
    synchronized void add(long sentNanos, long timeoutNanos) {
        if (sentNanos - newest > 0) {
            newest = sentNanos;
        }
        if (sentNanos - earlier >= timeoutNanos / 4) {
            heard = earlier;
            earlier = sentNanos;
        }
    }

    /** When the servers may end the session at the earliest. */
    synchronized long endNanos(long timeoutNanos) {
        long known = heard + timeoutNanos;
        long likely = newest + timeoutNanos / 2;
        return known - likely > 0 ? known : likely;
    }

    /** When the next request is due, a quarter after that which counts. */
    synchronized long dueNanos(long timeoutNanos) {
        return earlier + timeoutNanos / 4;
    }
}
