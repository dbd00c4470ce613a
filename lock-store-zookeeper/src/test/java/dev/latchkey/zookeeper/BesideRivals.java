package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import org.apache.zookeeper.ZooKeeper;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** As its superclass, and rivals with a connection of their own. */
abstract class BesideRivals extends BehindAProxy {

    static final Duration SHORT = Duration.ofSeconds(6);
    static final String SHORT_SESSION = Stores.session(SHORT);

    ZooKeeperStore direct;
    LockFactory rivals;

    BesideRivals() {
        super(SHORT_SESSION);
    }

    @BeforeEach
    void connectRivals() {
        direct = Stores.open(server.address(), SHORT_SESSION);
        rivals = new LockFactory(direct);
        assertThat(locks.createLock("warm-up").tryAcquire()).isTrue();
    }

    @AfterEach
    void endRivals() {
        rivals.close();
        direct.close();
    }

    BackgroundCall<Lock> waiting(LockFactory factory, String resource, int lengthThen) throws Exception {
        BackgroundCall<Lock> call = BackgroundCall.start(factory.createLock(resource, TTL)::acquire);
        awaitLine(resource, lengthThen);
        call.awaitWaiting();
        return call;
    }

    void awaitLine(String resource, int length) {
        Awaitility.await()
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(nodes.line(resource)).hasSize(length));
    }

    /** Ends a session as the servers do when they have not heard of it. */
    static void expire(ZooKeeperStore store) {
        ZooKeeper client = store.sessions().forUse("any").client();
        long id = client.getSessionId();
        byte[] password = client.getSessionPasswd();
        Awaitility.await().atMost(LIMIT).until(() -> isOver(id, password));
    }

    /**
     * Returns whether a session has ended; ends it otherwise, unless its client takes it back before this one is closed, as on a
     * busy machine.
     */
    static boolean isOver(long id, byte[] password) throws Exception {
        ZooKeeper sameSession = new ZooKeeper(
                server.address().toString(), (int) TimeLimits.ttl(SHORT).toMillis(), event -> {}, id, password);
        try {
            Awaitility.await()
                    .atMost(LIMIT)
                    .until(() -> sameSession.getState().isConnected()
                            || !sameSession.getState().isAlive());
            return !sameSession.getState().isAlive();
        } finally {
            sameSession.close();
        }
    }
}
