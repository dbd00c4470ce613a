package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.servers.ZooKeeperServer;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.data.Stat;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Over clients that somebody else makes, and replaces when their session has ended. */
class CuratorIT {

    private static final Duration LIMIT = TimeLimits.LIMIT;

    private ZooKeeperServer server;
    private CuratorFramework curator;
    private ZooKeeperStore store;
    private LockFactory locks;

    @BeforeEach
    void start() {
        server = ZooKeeperServer.start("maxSessionTimeout=60000");
        curator = CuratorFrameworkFactory.builder()
                .connectString(server.address().toString())
                .sessionTimeoutMs((int) TimeLimits.ttl(Duration.ofSeconds(10)).toMillis())
                .retryPolicy(new RetryForever(100))
                .build();
        curator.start();
        store = ZooKeeperStore.builder(() -> curator.getZookeeperClient().getZooKeeper())
                .build();
        locks = new LockFactory(store);
    }

    @AfterEach
    void stop() {
        locks.close();
        store.close();
        curator.close();
        server.close();
    }

    @Test
    void givenACuratorFramework_whenAcquired_thenHeldInItsSessionAgainstAllOthers() throws Exception {
        Lock lock = locks.createLock("report");
        assertThat(lock.tryAcquire()).isTrue();
        try (ZooKeeperStore other = Stores.open(server.dsn())) {
            Lock rival = new LockFactory(other).createLock("report");
            assertThat(rival.tryAcquire()).isFalse();

            assertThat(lock.release()).isTrue();

            assertThat(rival.tryAcquire()).isTrue();
        }
        assertThat(store.sessions().forUse("report").id())
                .isEqualTo(curator.getZookeeperClient().getZooKeeper().getSessionId());
    }

    @Test
    void givenHeldAndWaiting_whenTheSessionExpires_thenLostAndTheWaitGoesOnInTheNextSession() throws Exception {
        CompletableFuture<LossReason> told = new CompletableFuture<>();
        Lock lock = locks.createLock("mine");
        lock.onLost(told::complete);
        assertThat(lock.tryAcquire()).isTrue();
        try (ZooKeeperStore other = Stores.open(server.dsn())) {
            Lock holder = new LockFactory(other).createLock("theirs");
            assertThat(holder.tryAcquire()).isTrue();
            BackgroundCall<Lock> waiting = BackgroundCall.start(locks.createLock("theirs")::acquire);
            Awaitility.await()
                    .atMost(LIMIT)
                    .until(() -> store.sessions().forUse("theirs").waiting() == 1);
            long before = store.sessions().forUse("theirs").id();

            SessionExpiry.force(server.address(), curator.getZookeeperClient().getZooKeeper());

            Awaitility.await().atMost(LIMIT).until(told::isDone);
            assertThat(told.join()).isEqualTo(LossReason.SESSION_LOST);
            Awaitility.await()
                    .atMost(LIMIT)
                    .ignoreExceptions()
                    .until(() -> store.sessions().forUse("theirs").waiting() == 1
                            && store.sessions().forUse("theirs").id() != before);
            assertThat(holder.release()).isTrue();
            assertThat(waiting.result().isAcquired()).isTrue();
            assertThat(locks.createLock("mine").tryAcquire()).isTrue();
        }
    }

    @Test
    void givenHeld_whenTheStoreIsClosed_thenReleasedAndCuratorGoesOn() throws Exception {
        assertThat(locks.createLock("report").tryAcquire()).isTrue();

        store.close();

        // The server deletes an empty container in its own time.
        Stat container = curator.checkExists().forPath("/latchkey/report");
        assertThat(container == null ? 0 : container.getNumChildren()).isZero();
    }

    @Test
    void givenCuratorWasClosed_whenTried_thenAFailureAndNothingWasSent() {
        curator.close();

        assertThatThrownBy(() -> locks.createLock("report").tryAcquire())
                .isInstanceOfSatisfying(
                        LockStorageException.class,
                        failure -> assertThat(failure.failure()).isEqualTo(LockStorageException.Failure.NOT_SENT));
    }
}
