package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LossReason;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How the holder of a sticky lock hears of recalls and of the end of its node, wherever that is and whoever may write to it. */
class RecallIT extends BesideRivals {

    private static final Duration STICKY = Duration.ofMinutes(5);

    /** Of this test alone: what one leaves behind may outlast it by a session. */
    private final String resource = "recalled-" + UUID.randomUUID();

    RecallIT() {
        super(LONG_SESSION);
    }

    private Lock sticky(LockFactory factory) {
        return factory.lock(resource).ttl(TTL).sticky(STICKY).create();
    }

    private static long used(Lock lock) {
        assertThat(lock.tryAcquire()).isTrue();
        long token = lock.fencingToken().orElseThrow();
        assertThat(lock.release()).isTrue();
        return token;
    }

    private String first() throws Exception {
        String parent = "/latchkey/" + resource;
        return parent + '/' + nodes.line(resource).stream().sorted().findFirst().orElseThrow();
    }

    /** Somebody who waits is why an administrator deletes it. */
    @Test
    void givenInUseAndRecalled_whenItsNodeIsDeletedByAnAdministrator_thenItsHolderIsToldAtOnce() throws Exception {
        CompletableFuture<LossReason> told = new CompletableFuture<>();
        Lock lock = sticky(locks);
        lock.onLost(told::complete);
        assertThat(lock.tryAcquire()).isTrue();
        String node = first();
        BackgroundCall<Lock> rival = waiting(rivals, resource, 2);
        Awaitility.await()
                .atMost(LIMIT)
                .until(() -> nodes.client().exists(node, false).getVersion() > 0);
        assertThat(lock.isAcquired()).isTrue();

        nodes.client().delete(node, -1);

        assertThat(told).succeedsWithin(LIMIT).isEqualTo(LossReason.RELEASED_ELSEWHERE);
        assertThat(rival.result().isAcquired()).isTrue();
    }

    @Test
    void givenAChroot_whenTheConnectionIsCutBeforeTheRecall_thenItIsHeardOnTheNextOne() throws Exception {
        String chroot = "/app-" + UUID.randomUUID();
        nodes.client().create(chroot, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        try (ZooKeeperStore below = Stores.open("zookeeper://" + proxy.address() + chroot + "?sessionTimeout=60s");
                ZooKeeperStore beside = Stores.open(server.dsn() + chroot)) {
            long token = used(sticky(new LockFactory(below)));
            Lock rival = new LockFactory(beside).createLock(resource, TTL);
            assertThat(nodes.below(chroot + "/latchkey/" + resource)).hasSize(1);

            proxy.cut();

            assertThat(rival.tryAcquire(LIMIT)).isTrue();
            assertThat(rival.fencingToken().orElseThrow()).isGreaterThan(token);
        }
    }

    /** The client has one set of watches for both stores. */
    @ParameterizedTest
    @ValueSource(strings = {"..", "a/b ~\u0001\n", "-x-0000000001", "\u00fc"})
    void givenAnOddNameBelowTheRootOfAll_whenAnotherStoreOfTheClientAsks_thenItIsGivenBack(String name)
            throws Exception {
        ZooKeeper client = Nodes.connect(server.address().toString(), 60_000);
        try (ZooKeeperStore one = ZooKeeperStore.builder(client).root("/").build();
                ZooKeeperStore two = ZooKeeperStore.builder(client).root("/").build()) {
            Lock lock = new LockFactory(one).lock(name).ttl(TTL).sticky(STICKY).create();
            long token = used(lock);
            Lock rival = new LockFactory(two).createLock(name, TTL);

            assertThat(rival.tryAcquire(LIMIT)).isTrue();

            assertThat(rival.fencingToken().orElseThrow()).isGreaterThan(token);
            assertThat(lock.tryAcquire()).isFalse();
        } finally {
            client.close();
        }
    }

    @Test
    void givenRivalsThatMayNotWrite_whenTheyAsk_thenOneWarningAndTheyWaitAsLongAsItIsKept() throws Exception {
        ZooKeeper client = Nodes.connect(server.address().toString(), 60_000);
        client.addAuthInfo("digest", "holder:secret".getBytes(StandardCharsets.UTF_8));
        List<ACL> acl = List.of(
                new ACL(Perms.ALL, ZooDefs.Ids.AUTH_IDS),
                new ACL(Perms.READ | Perms.CREATE | Perms.DELETE, ZooDefs.Ids.ANYONE_ID_UNSAFE));
        String root = "/guarded-" + UUID.randomUUID();
        PrintStream before = System.err;
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8));
        try (ZooKeeperStore holding =
                        ZooKeeperStore.builder(client).root(root).acl(acl).build();
                ZooKeeperStore asking = Stores.open(server.dsn() + "?root=" + root)) {
            assertThat(new LockFactory(asking).createLock("warm-up").tryAcquire())
                    .isTrue();
            // On a busy machine it has to be kept for long enough for a rival to be refused.
            Duration moment = TimeLimits.ttl(Duration.ofSeconds(6));
            long token = used(new LockFactory(holding)
                    .lock(resource)
                    .ttl(moment)
                    .sticky(moment)
                    .create());
            Lock rival = new LockFactory(asking).createLock(resource, TTL);

            assertThat(rival.tryAcquire()).isFalse();
            assertThat(rival.tryAcquire(LIMIT)).isTrue();

            assertThat(rival.fencingToken().orElseThrow()).isGreaterThan(token);
        } finally {
            System.setErr(before);
            client.close();
        }
        assertThat(written.toString(StandardCharsets.UTF_8)).containsOnlyOnce("lock.recall_denied");
    }
}
