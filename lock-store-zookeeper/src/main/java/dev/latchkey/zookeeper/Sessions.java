package dev.latchkey.zookeeper;

import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import java.io.IOException;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/** The session of a store: one at a time, and when that has ended another one, if the store makes its clients itself. */
final class Sessions {

    private static final int CLOSING_MILLIS = 2_000;

    /** Makes a client; throws {@link IllegalArgumentException} for an address that is none. */
    interface Opener {
        ZooKeeper open() throws IOException;
    }

    private final Settings settings;
    private final @Nullable Opener opener;
    private volatile @Nullable Session current;
    private volatile boolean closed;

    private Sessions(Settings settings, @Nullable Opener opener, @Nullable Session first) {
        this.settings = settings;
        this.opener = opener;
        this.current = first;
    }

    static Sessions opening(Opener opener, Settings settings) {
        return new Sessions(settings, opener, null);
    }

    static Sessions of(ZooKeeper client, Settings settings) {
        return new Sessions(settings, null, new Session(client, settings));
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

    /** Whether one that has expired is followed by another. */
    boolean replaces(Session session) {
        return opener != null && !closed && session.hasExpired();
    }

    private synchronized Session open(String resource) {
        if (closed) {
            throw Failures.closed(resource);
        }
        Session session = current;
        if (session != null && !session.isEnded()) {
            return session;
        }
        if (opener == null) {
            throw Failures.clientEnded(resource);
        }
        if (session != null) {
            session.lose(LossReason.SESSION_LOST);
            end(session.client());
        }
        try {
            Session opened = new Session(opener.open(), settings);
            current = opened;
            return opened;
        } catch (IOException e) {
            throw new LockStorageException(resource, "the ZooKeeper client did not start: " + e.getMessage(), e);
        }
    }

    /** Ends what is held and waited for here; a client of the caller goes on. */
    synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        Session session = current;
        if (session == null) {
            return;
        }
        if (opener != null) {
            session.close(LossReason.STORE_CLOSED);
            end(session.client());
        } else {
            session.lose(LossReason.STORE_CLOSED);
            session.sweeper().awaitDone(Limit.deaf(Failures.LEAVING_NANOS));
        }
    }

    private static void end(ZooKeeper client) {
        boolean interrupted = Thread.interrupted();
        try {
            client.close(CLOSING_MILLIS);
        } catch (InterruptedException e) {
            interrupted = true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
