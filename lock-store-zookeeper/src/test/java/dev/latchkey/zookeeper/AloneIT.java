package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.testkit.BackgroundCall;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What goes wrong where nobody else stands in line: there a node is made by a call that blocks, and nothing else asked. */
class AloneIT extends BehindAProxy {

    AloneIT() {
        super("?sessionTimeout=60s");
    }

    /** A lock that was taken and given up so often that its line is known to be empty. What others change meanwhile delays that. */
    private Lock alone(String resource) {
        Lock lock = locks.createLock(resource, TTL);
        Awaitility.await().atMost(LIMIT).until(() -> {
            assertThat(lock.acquire().release()).isTrue();
            return store.sessions().forUse(resource).lastReleased().isLikelyNext("/latchkey/" + resource);
        });
        return lock;
    }

    @Test
    void givenAlone_whenTheReplyToCreateIsLost_thenItsNodeIsFoundAgainAndUsed() throws Exception {
        Lock lock = alone("lost-reply");
        CompletableFuture<Void> lost = proxy.loseReplyTo("/latchkey/lost-reply/");

        assertThat(lock.acquire().isAcquired()).isTrue();

        assertThat(lost).isCompleted();
        assertThat(nodes.line("lost-reply")).hasSize(1);
        assertThat(lock.release()).isTrue();
        assertThat(nodes.line("lost-reply")).isEmpty();
    }

    @Test
    void givenAlone_whenTheRequestToCreateIsLost_thenItIsMadeOnce() throws Exception {
        Lock lock = alone("lost-request");
        CompletableFuture<Void> lost = proxy.loseRequest("/latchkey/lost-request/");

        assertThat(lock.acquire().isAcquired()).isTrue();

        assertThat(lost).isCompleted();
        assertThat(nodes.line("lost-request")).hasSize(1);
    }

    @Test
    void givenAlone_whenInterruptedInTheMiddle_thenNothingIsLeftInLine() throws Exception {
        Lock lock = alone("interrupted");
        proxy.silence();
        BackgroundCall<Lock> call = BackgroundCall.start(lock::acquire);
        call.awaitWaiting();

        call.interrupt();
        proxy.heal();

        assertThatThrownBy(call::result).isInstanceOf(InterruptedException.class);
        Awaitility.await()
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(nodes.line("interrupted")).isEmpty());
        // On a busy machine, what was held back may make its node only now, and the store removes it then.
        assertThat(lock.tryAcquire(LIMIT)).isTrue();
    }

    @Test
    void givenAlone_whenATryIsInterruptedInTheMiddle_thenItHoldsAndTheFlagIsKept() throws Exception {
        Lock lock = alone("deaf");
        proxy.silence();
        BackgroundCall<Boolean> call = BackgroundCall.start(
                () -> lock.tryAcquire() && Thread.currentThread().isInterrupted());
        call.awaitWaiting();

        call.interrupt();
        proxy.heal();

        assertThat(call.result()).isTrue();
        assertThat(lock.isAcquired()).isTrue();
        assertThat(nodes.line("deaf")).hasSize(1);
        assertThat(lock.release()).isTrue();
        Awaitility.await()
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(nodes.line("deaf")).isEmpty());
    }

    /** The client itself would wait for two thirds of the session timeout. */
    @Test
    void givenAloneAndAMuteServer_whenTriedForAMoment_thenAFailureLongBeforeTheClientGivesUp() throws Exception {
        Lock lock = alone("mute");
        proxy.silence();
        long start = System.nanoTime();

        assertThatThrownBy(() -> lock.tryAcquire(Duration.ofMillis(100))).isInstanceOf(LockStorageException.class);

        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
        proxy.heal();
        Awaitility.await()
                .atMost(LIMIT)
                .untilAsserted(() -> assertThat(nodes.line("mute")).isEmpty());
    }

    /** The thread that made it is slow to hear so. */
    @Test
    @SuppressWarnings("try") // The client's close() throws InterruptedException.
    void givenANodeMadeBeforeTheHolderPromotedAndGaveUp_whenItHolds_thenItsTokenIsGreaterAllTheSame() throws Exception {
        CompletableFuture<Void> heard = new CompletableFuture<>();
        ThreadLocal<Boolean> isSlow = ThreadLocal.withInitial(() -> false);
        ZooKeeper client = new ZooKeeper(server.address().toString(), 60_000, event -> {}) {
            @Override
            public String create(String path, byte[] data, List<ACL> acl, CreateMode mode, Stat stat)
                    throws KeeperException, InterruptedException {
                String made = super.create(path, data, acl, mode, stat);
                if (isSlow.get()) {
                    heard.join();
                }
                return made;
            }
        };
        try (ZooKeeperStore lent = ZooKeeperStore.builder(client).build()) {
            LockFactory lenders = new LockFactory(lent);
            Lock holder = lenders.createLock("slow");
            for (int i = 0; i < 3; i++) {
                assertThat(holder.acquire().release()).isTrue();
            }
            assertThat(holder.tryAcquireShared()).isTrue();
            BackgroundCall<Long> slow = BackgroundCall.start(() -> {
                isSlow.set(true);
                return lenders.createLock("slow").acquire().fencingToken().orElseThrow();
            });
            Awaitility.await()
                    .atMost(LIMIT)
                    .untilAsserted(() -> assertThat(nodes.line("slow")).hasSize(2));
            assertThat(holder.tryAcquire()).isTrue();
            long token = holder.fencingToken().orElseThrow();
            assertThat(holder.tryAcquireShared()).isTrue();
            assertThat(holder.release()).isTrue();

            heard.complete(null);

            assertThat(slow.result()).isGreaterThan(token);
        } finally {
            heard.complete(null);
            client.close();
        }
    }
}
