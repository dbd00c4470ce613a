package dev.latchkey.zookeeper;

import dev.latchkey.LossReason;
import org.jspecify.annotations.Nullable;

/** The session of a store: one at a time. When it has ended, another one follows if there is another client. */
final class Sessions {

    /** How long the owner of a client that has ended may take to provide another one. */
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

    /** Returns the session, or null if there is none yet. */
    @Nullable Session known() {
        return current;
    }

    /** Returns a session that has not ended; opens one if necessary, without waiting for a server. */
    Session forUse(String resource) {
        Session session = current;
        return session != null && !session.isEnded() && !closed ? session : open(resource);
    }

    /** Returns whether a session has expired and another one may follow. */
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

    /** Returns the next session. The owner of a client may just be replacing one that has ended. */
    private Session next(String resource) {
        CallTimeout<RuntimeException> limit = CallTimeout.uninterruptible(REPLACING_NANOS);
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

    /** Restores the interrupt flag. */
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

    /** Ends the holds and waits of this store. A client of the caller stays open. */
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
