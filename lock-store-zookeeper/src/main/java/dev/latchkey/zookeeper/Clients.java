package dev.latchkey.zookeeper;

import dev.latchkey.LossReason;
import java.io.IOException;
import org.apache.zookeeper.ZooKeeper;

/** Where the clients of a store come from, and what becomes of them. */
interface Clients {

    /** One to be used from now on; one that has ended if there is no other. */
    ZooKeeper next() throws Exception;

    /** What is known of the session of a client that {@link #next} has given when it was called then. */
    SessionProof proofs(long calledNanos);

    /** The session has ended: another one takes its place. */
    void discard(Session session);

    /** Ends what a session carries with the store. */
    void close(Session session);

    /** Makes a client; throws {@link IllegalArgumentException} for an address that is none. */
    @FunctionalInterface
    interface Opener {
        ZooKeeper open() throws IOException;
    }

    /** Clients that the store makes and closes. */
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

        /** The one and only. */
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
            session.sweeper().awaitDone(CallTimeout.deaf(Failures.LEAVING_NANOS));
        }
    }
}
