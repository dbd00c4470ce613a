package dev.latchkey.zookeeper;

import dev.latchkey.LossReason;
import org.jspecify.annotations.Nullable;

/** The session of a store: one at a time, and when that has ended another one, if another client is to be had. */
final class Sessions {

    /** How long the owner of a client that has ended may take to have another one. */
    private static final long REPLACING_NANOS = 1_000_000_000;

    private final NodeSettings settings;
    private final Clients clients;
    private volatile @Nullable Session current;
    private volatile boolean closed;

    Sessions(Clients clients, NodeSettings settings) {
        this.clients = clients;
        this.settings = settings;
    }

    boolean isClosed() {
        return closed;
    }

    /** The session if there is one. */
    @Nullable Session known() {
        return current;
    }

    /** A session that has not ended; opened if need be, without waiting for a server. */
    Session forUse(String resource) {
        Session session = current;
        return session != null && !session.isEnded() && !closed ? session : open(resource);
    }

    /** Whether one that has expired may be followed by another. */
    boolean replaces(Session session) {
        return !closed && session.hasExpired();
    }

    private synchronized Session open(String resource) {
        if (closed) {
            throw Failures.closed(resource);
        }
        Session session = current;
        if (session != null && !session.isEnded()) {
            return session;
        }
        if (session != null) {
            session.lose(LossReason.SESSION_LOST);
            clients.discard(session);
        }
        Session opened = next(resource);
        current = opened;
        return opened;
    }

    /** Its owner may be about to replace one that has just ended. */
    private Session next(String resource) {
        CallTimeout<RuntimeException> limit = CallTimeout.deaf(REPLACING_NANOS);
        Session session = supplied(resource);
        while (session.isEnded() && !limit.isOver()) {
            limit.pause();
            session = supplied(resource);
        }
        if (session.isEnded()) {
            throw Failures.clientEnded(resource);
        }
        return session;
    }

    /** An interrupt is kept for later. */
    private Session supplied(String resource) {
        boolean interrupted = Thread.interrupted();
        // The servers may know the session before the client is here, and this process may stand still in between.
        long beforeNanos = System.nanoTime();
        try {
            return new Session(clients.next(), settings, clients.proofs(beforeNanos), new Freezes(beforeNanos));
        } catch (InterruptedException e) {
            interrupted = true;
            throw Failures.noClient(resource, e);
        } catch (Exception e) {
            throw Failures.noClient(resource, e);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Ends what is held and waited for here; a client of the caller goes on. */
    synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        Session session = current;
        if (session != null) {
            clients.close(session);
        }
    }
}
