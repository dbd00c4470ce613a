package dev.latchkey.zookeeper;

import dev.latchkey.LossReason;
import java.io.IOException;
import org.apache.zookeeper.ZooKeeper;

/** The source of the clients of a store. */
interface Clients {

    /** Returns a client; one that has ended if there is no other. */
    ZooKeeper next() throws Exception;

    /** Returns what is known of the session of a client that {@link #next} returned when called at the given time. */
    SessionProof proofs(long calledNanos);

    /** The session has ended, and another one replaces it. */
    void discard(Session session);

    /** Ends a session of a store that is closed. */
    void close(Session session);

    /** Creates a client; throws {@link IllegalArgumentException} if the address is invalid. */
    @FunctionalInterface
    interface Opener {
        ZooKeeper open() throws IOException;
    }

    /** Clients that the store creates and closes. */
    record Own(Opener opener) implements Clients {

        private static final int CLOSING_MILLIS = 2_000;

        @Override
        public ZooKeeper next() throws IOException {
            return opener.open();
        }

        @Override
        public SessionProof proofs(long calledNanos) {
            return SessionProof.ofNewSession(calledNanos);
        }

        @Override
        public void discard(Session session) {
            end(session.client());
        }

        @Override
        public void close(Session session) {
            session.close(LossReason.STORE_CLOSED);
            end(session.client());
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

    /** Clients of the caller, who closes them. */
    record Lent(ZooKeeperStore.ClientSource source) implements Clients {

        /** A single client. */
        static Clients of(ZooKeeper client) {
            return new Lent(() -> client);
        }

        @Override
        public ZooKeeper next() throws Exception {
            return source.client();
        }

        @Override
        public SessionProof proofs(long calledNanos) {
            return SessionProof.none();
        }

        @Override
        public void discard(Session session) {
            // Its owner knows that it has ended.
        }

        @Override
        public void close(Session session) {
            session.leave(LossReason.STORE_CLOSED);
            session.sweeper().awaitDone(CallTimeout.uninterruptible(Failures.LEAVING_NANOS));
        }
    }
}
