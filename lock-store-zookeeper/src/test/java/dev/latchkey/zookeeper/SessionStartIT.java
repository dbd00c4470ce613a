package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/**
 * A process that stands still between its client and the first use of it: the session may be as old as that. Where it stands
 * still is in what opens the client, for a signal would hardly come in just that moment.
 */
class SessionStartIT extends BehindAProxy {

    /** The client breaks the connection when an answer takes two thirds of it. */
    private static final int TIMEOUT_MILLIS = 10_000;

    SessionStartIT() {
        super("?sessionTimeout=" + TIMEOUT_MILLIS + "ms");
    }

    @Test
    void givenTheServersHaveEndedTheSessionWhileItWasOpened_thenNothingOfItIsBelieved() {
        NodeSettings settings = new NodeSettings(new Paths(ZooKeeperStore.DEFAULT_ROOT), ZooDefs.Ids.OPEN_ACL_UNSAFE);
        Sessions sessions = new Sessions(new Clients.Own(this::openUntilTheServersEndIt), settings);
        try {
            assertThat(sessions.forUse("report").isLive()).isFalse();
        } finally {
            sessions.close();
        }
    }

    private ZooKeeper openUntilTheServersEndIt() {
        try {
            ZooKeeper client = Nodes.connect(proxy.address().toString(), TIMEOUT_MILLIS);
            client.create("/mark", Requests.NOTHING, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
            proxy.silence();
            Awaitility.await().atMost(LIMIT).until(() -> nodes.client().exists("/mark", false) == null);
            return client;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Its client has not said for so long that it is there that a single answer is too little. */
    @Test
    void givenTheProcessStoodStillWhileTheClientWasOpened_whenTaken_thenTheSessionIsProvenFirst() throws Exception {
        int most = 0;
        // Again where the first proof has taken so long that there was no time for another.
        for (int i = 0; i < 3 && most < 2; i++) {
            most = Math.max(most, proofsBeforeTheNodeAfterStandingStill());
        }

        assertThat(most).isGreaterThanOrEqualTo(2);
    }

    @SuppressWarnings("try") // The client's close() throws InterruptedException.
    private int proofsBeforeTheNodeAfterStandingStill() throws Exception {
        // Long enough for a busy machine not to end it.
        int timeoutMillis = 12_000;
        ProofCounter client = new ProofCounter(timeoutMillis);
        try (ZooKeeperStore lent = ZooKeeperStore.builder(() -> {
                    Awaitility.await()
                            .atMost(LIMIT)
                            .until(() -> client.getState().isConnected());
                    standStill(Duration.ofMillis(timeoutMillis / 2));
                    return client;
                })
                .build()) {
            Lock lock = new LockFactory(lent).createLock("report", TTL);

            assertThat(lock.tryAcquire()).isTrue();

            return client.proofsBefore.get();
        } finally {
            client.close();
        }
    }

    /** With no thread that says that the process runs, it would seem to have stood still ever since. */
    @Test
    @SuppressWarnings("try") // The client's close() throws InterruptedException.
    void givenHoldersWereListedLongAgo_whenTaken_thenNothingIsToBeProvenFirst() throws Exception {
        ProofCounter client = new ProofCounter(40_000);
        try (ZooKeeperStore lent = new ZooKeeperStore(client)) {
            assertThat(lent.holders("report")).isEmpty();
            standStill(Duration.ofSeconds(8));
            Lock lock = new LockFactory(lent).createLock("report", TTL);

            assertThat(lock.tryAcquire()).isTrue();

            assertThat(client.proofsBefore).hasValue(0);
        } finally {
            client.close();
        }
    }

    private static void standStill(Duration time) {
        Awaitility.await().pollDelay(time).until(() -> true);
    }

    /** Counts what only proves the session, until the first node is made. */
    @SuppressWarnings("try") // The client's close() throws InterruptedException.
    private static final class ProofCounter extends ZooKeeper {

        final AtomicInteger proofsBefore = new AtomicInteger();
        private final AtomicBoolean made = new AtomicBoolean();

        ProofCounter(int timeoutMillis) throws IOException {
            super(server.address().toString(), timeoutMillis, event -> {});
        }

        @Override
        public void multi(Iterable<Op> operations, AsyncCallback.MultiCallback callback, Object context) {
            if (!made.get()) {
                proofsBefore.incrementAndGet();
            }
            super.multi(operations, callback, context);
        }

        @Override
        public void create(
                String path,
                byte[] data,
                List<ACL> acl,
                CreateMode mode,
                AsyncCallback.Create2Callback callback,
                Object context) {
            made.set(true);
            super.create(path, data, acl, mode, callback, context);
        }
    }
}
