package dev.latchkey.zookeeper;

import dev.latchkey.testkit.ServerAddress;
import dev.latchkey.testkit.TimeLimits;
import org.apache.zookeeper.ZooKeeper;
import org.awaitility.Awaitility;

/** Ends sessions as the servers do when they have not heard of them. */
final class SessionExpiry {

    private SessionExpiry() {}

    static void force(ServerAddress server, ZooKeeper client) {
        long id = client.getSessionId();
        byte[] password = client.getSessionPasswd();
        int timeout = client.getSessionTimeout();
        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> isOver(server, timeout, id, password));
    }

    /**
     * Returns whether a session has ended; ends it otherwise, unless its client takes it back before this one is closed, as on a
     * busy machine.
     */
    private static boolean isOver(ServerAddress server, int timeout, long id, byte[] password) throws Exception {
        ZooKeeper sameSession = new ZooKeeper(server.toString(), timeout, event -> {}, id, password);
        try {
            Awaitility.await()
                    .atMost(TimeLimits.LIMIT)
                    .until(() -> sameSession.getState().isConnected()
                            || !sameSession.getState().isAlive());
            return !sameSession.getState().isAlive();
        } finally {
            sameSession.close();
        }
    }
}
