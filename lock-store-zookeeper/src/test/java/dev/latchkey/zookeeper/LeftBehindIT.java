package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.ZooKeeper;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Nodes that could not be removed when they were given up, in a session that outlives the outage. */
class LeftBehindIT extends BehindAProxy {

    /** Longer than a call waits for an answer, and short enough for the pulse to find nothing to do meanwhile. */
    private static final int SESSION_MILLIS = 30_000;

    LeftBehindIT() {
        super("?sessionTimeout=" + SESSION_MILLIS + "ms");
    }

    @Test
    void givenAReleaseThatNobodyAnswered_whenConnectedAgain_thenItsNodeIsRemoved() {
        Lock lock = locks.createLock("released", TTL);
        assertThat(lock.tryAcquire()).isTrue();
        proxy.refuse();

        assertThatThrownBy(lock::release).isInstanceOf(LockStorageException.class);
        awaitLoss(store.sessions().forUse("released"));
        proxy.heal();

        awaitEmpty("released");
    }

    @Test
    void givenATryWhoseNodeWasMadeUnheard_whenConnectedAgain_thenItsNodeIsRemoved() {
        Lock lock = locks.createLock("unheard", TTL);
        assertThat(lock.tryAcquire() && lock.release()).isTrue();
        CompletableFuture<Void> refused = proxy.loseReplyTo("/latchkey/unheard").thenRun(proxy::refuse);

        assertThatThrownBy(lock::tryAcquire).isInstanceOf(LockStorageException.class);
        assertThat(refused).isDone();
        awaitLoss(store.sessions().forUse("unheard"));
        proxy.heal();

        awaitEmpty("unheard");
    }

    @Test
    void givenAClientOfTheCallerAndTheStoreClosedInAnOutage_whenConnectedAgain_thenItsNodeIsRemoved() throws Exception {
        ZooKeeper client = Nodes.connect(proxy.address().toString(), SESSION_MILLIS);
        ZooKeeperStore closed = ZooKeeperStore.builder(client).build();
        Lock lock = new LockFactory(closed).createLock("closed", TTL);
        assertThat(lock.tryAcquire()).isTrue();
        Session session = closed.sessions().forUse("closed");
        proxy.refuse();

        closed.close();
        awaitLoss(session);
        proxy.heal();

        awaitEmpty("closed");
        assertThat(client.getState().isConnected()).isTrue();
        client.close();
    }

    /** Requests are lost in the order in which they were sent: this one, and all before it. */
    private static void awaitLoss(Session session) {
        assertThat(session.requests().stat("/latchkey").join().isLost()).isTrue();
    }

    private void awaitEmpty(String resource) {
        Awaitility.await()
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(nodes.line(resource)).isEmpty());
    }
}
