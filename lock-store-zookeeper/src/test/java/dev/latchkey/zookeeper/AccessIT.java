package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.ZooKeeperServer;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Who may, where nodes are, whose client it is, and what is left. */
class AccessIT {

    private static ZooKeeperServer server;
    private Nodes nodes;

    @BeforeAll
    static void start() {
        server = ZooKeeperServer.start("maxSessionTimeout=60000");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void open() throws Exception {
        nodes = Nodes.of(server.dsn());
    }

    @AfterEach
    void close() {
        nodes.close();
    }

    @Test
    void givenAUser_whenAnotherOneTries_thenAFailureThatSaysWhatIsMissing() {
        try (ZooKeeperStore mine = Stores.open("zookeeper://me:secret@" + server.address() + "?root=/mine");
                ZooKeeperStore theirs = Stores.open("zookeeper://they:other@" + server.address() + "?root=/mine")) {
            Lock lock = new LockFactory(mine).createLock("report");
            assertThat(lock.tryAcquire()).isTrue();

            assertThatThrownBy(
                            () -> new LockFactory(theirs).createLock("report").tryAcquire())
                    .isInstanceOf(LockStorageException.class)
                    .extracting(failure -> ((LockStorageException) failure).failure())
                    .isEqualTo(LockStorageException.Failure.DENIED);
            assertThatThrownBy(
                            () -> new LockFactory(theirs).createLock("report").tryAcquire())
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("/mine/report")
                    .hasMessageContaining("permissions")
                    .hasMessageNotContaining("secret");
            assertThatThrownBy(
                            () -> new LockFactory(theirs).createLock("another").tryAcquire())
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("permissions");
            assertThat(lock.release()).isTrue();
        }
    }

    @Test
    void givenNoChroot_whenTried_thenAFailureThatSaysSo() {
        try (ZooKeeperStore store = Stores.open(server.dsn() + "/missing")) {
            assertThatThrownBy(() -> new LockFactory(store).createLock("report").tryAcquire())
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("chroot");
        }
    }

    @Test
    void givenAChroot_whenHeld_thenBelowIt() throws Exception {
        nodes.client().create("/app", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        try (ZooKeeperStore store = Stores.open(server.dsn() + "/app?root=/deep/locks")) {
            Lock lock = new LockFactory(store).createLock("report");

            assertThat(lock.tryAcquire()).isTrue();

            assertThat(nodes.below("/app/deep/locks/report")).hasSize(1);
            assertThat(lock.isAcquired()).isTrue();
            assertThat(lock.tryAcquireShared()).isTrue();
            assertThat(lock.tryAcquire()).isTrue();
            assertThat(lock.release()).isTrue();
            assertThat(nodes.below("/app/deep/locks/report")).isEmpty();
        }
    }

    @Test
    void givenReleasedDemotedAndPromoted_whenTheServersHaveCleanedUp_thenNothingIsLeft() throws Exception {
        try (ZooKeeperStore store = Stores.open(server.dsn() + "?root=/clean")) {
            LockFactory locks = new LockFactory(store);
            Lock lock = locks.createLock("report");
            assertThat(lock.tryAcquire()).isTrue();
            assertThat(lock.tryAcquireShared()).isTrue();
            assertThat(lock.tryAcquire()).isTrue();
            assertThat(locks.createLock("report").tryAcquire(Duration.ofMillis(50)))
                    .isFalse();
            assertThat(lock.release()).isTrue();

            assertThat(nodes.below("/clean/report")).isEmpty();
            Awaitility.await()
                    .atMost(TimeLimits.LIMIT)
                    .until(() -> nodes.client().exists("/clean", false) == null);
            assertThat(lock.tryAcquire()).isTrue();
            assertThat(store.holds()).isOne();
        }
    }

    @Test
    void givenAClientOfTheCaller_whenTheStoreIsClosed_thenNothingIsHeldAndTheClientLives() throws Exception {
        ZooKeeper client = Nodes.connect(server.address().toString(), 10_000);
        try {
            ZooKeeperStore store =
                    ZooKeeperStore.builder(client).root("/borrowed").build();
            assertThat(new LockFactory(store).createLock("report").tryAcquire()).isTrue();

            store.close();

            assertThat(nodes.below("/borrowed/report")).isEmpty();
            assertThat(client.getState().isConnected()).isTrue();
            assertThatThrownBy(() -> new LockFactory(store).createLock("report").tryAcquire())
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("closed");
        } finally {
            client.close();
        }
    }

    @Test
    void givenAClientOfTheCaller_whenItIsClosed_thenAFailureThatSaysWhatToDo() throws Exception {
        ZooKeeper client = Nodes.connect(server.address().toString(), 10_000);
        try (ZooKeeperStore store = new ZooKeeperStore(client)) {
            client.close();

            assertThatThrownBy(() -> new LockFactory(store).createLock("report").tryAcquire())
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("make a new client");
        }
    }

    /** C25. */
    @Test
    void givenNobodyListens_whenTried_thenNothingWasSent() {
        try (ZooKeeperStore store = Stores.open("zookeeper://127.0.0.1:1")) {
            assertThatThrownBy(() -> new LockFactory(store).createLock("report").tryAcquire())
                    .isInstanceOfSatisfying(
                            LockStorageException.class,
                            refused -> assertThat(refused.failure()).isEqualTo(LockStorageException.Failure.NOT_SENT));
        }
    }

    /** B21. */
    @Test
    void givenTheThreadIsInterrupted_whenTheStoreIsClosed_thenReleasedAndTheFlagIsKept() throws Exception {
        ZooKeeperStore store = Stores.open(server.dsn() + "?root=/interrupted");
        assertThat(new LockFactory(store).createLock("report").tryAcquire()).isTrue();

        Thread.currentThread().interrupt();
        store.close();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(nodes.below("/interrupted/report")).isEmpty();
    }
}
