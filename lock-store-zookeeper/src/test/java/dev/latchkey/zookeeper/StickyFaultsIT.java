package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What becomes of a sticky lock whose recall goes wrong, or whose session or process does. */
class StickyFaultsIT extends BesideRivals {

    private static final Duration STICKY = TimeLimits.LIMIT.multipliedBy(2);
    private static final byte[] RECALLED = "r".getBytes(StandardCharsets.UTF_8);

    /** Of this test alone: what one leaves behind may outlast it by a session. */
    private final String resource = "kept-" + UUID.randomUUID();

    StickyFaultsIT() {
        super(LONG_SESSION);
    }

    private Lock sticky(LockFactory factory) {
        return factory.lock(resource).ttl(TTL).sticky(STICKY).create();
    }

    /** Acquires and releases twice, the second time without a request, and watches its node; returns the token of that hold. */
    private static long kept(Lock lock) {
        assertThat(lock.tryAcquire()).isTrue();
        long first = lock.fencingToken().orElseThrow();
        assertThat(lock.isAcquired()).isTrue();
        assertThat(lock.release()).isTrue();
        long second = cycle(lock);
        assertThat(second).isEqualTo(first + 1);
        return second;
    }

    private static long cycle(Lock lock) {
        assertThat(lock.tryAcquire()).isTrue();
        long token = lock.fencingToken().orElseThrow();
        assertThat(lock.release()).isTrue();
        return token;
    }

    /** Returns the path of the only node. */
    private String node() throws Exception {
        List<String> line = nodes.line(resource);
        assertThat(line).hasSize(1);
        return "/latchkey/" + resource + '/' + line.get(0);
    }

    private void awaitGivenBack() {
        awaitLine(resource, 0);
    }

    /** The servers keep it, and tell it when the client is back. */
    @Test
    void givenKept_whenARivalAsksWhileItIsCutOff_thenItIsGivenBackAfterwards() throws Exception {
        long token = kept(sticky(locks));
        proxy.refuse();
        Awaitility.await().atMost(LIMIT).until(() -> proxy.connections() == 0);
        BackgroundCall<Lock> rival = waiting(rivals, resource, 2);

        proxy.heal();

        assertThat(rival.result().fencingToken().orElseThrow()).isGreaterThan(token);
    }

    @Test
    void givenKept_whenTheRequestThatRecallsIsLost_thenItIsRepeated() throws Exception {
        long token = kept(sticky(rivals));
        CompletableFuture<Void> lost = proxy.loseRequest(node());
        Lock asking = locks.createLock(resource, TTL);

        assertThat(asking.tryAcquire(LIMIT)).isTrue();

        assertThat(lost).isCompleted();
        assertThat(asking.fencingToken().orElseThrow()).isGreaterThan(token);
    }

    @Test
    void givenKept_whenTheRecallIsLate_thenWhoTriesIsRefusedAndWhoWaitsIsNot() throws Exception {
        long token = kept(sticky(locks));
        proxy.silence();
        Lock rival = rivals.createLock(resource, TTL);

        assertThat(rival.tryAcquire()).isFalse();
        proxy.heal();
        assertThat(rival.tryAcquire(LIMIT)).isTrue();

        assertThat(rival.fencingToken().orElseThrow()).isGreaterThan(token);
    }

    @Test
    void givenInUse_whenTheRecallIsDoubled_thenItIsHeldUntilTheReleaseWhichIsReal() throws Exception {
        Lock lock = sticky(locks);
        kept(lock);
        assertThat(lock.tryAcquire()).isTrue();
        long token = lock.fencingToken().orElseThrow();
        String node = node();
        BackgroundCall<Lock> rival = waiting(rivals, resource, 2);
        nodes.client().setData(node, RECALLED, -1);
        nodes.client().setData(node, RECALLED, -1);

        assertThat(lock.isAcquired()).isTrue();
        assertThat(rival.isDone()).isFalse();
        assertThat(lock.release()).isTrue();

        assertThat(rival.result().fencingToken().orElseThrow()).isGreaterThan(token);
    }

    /** It is a hint: it costs two requests, and nothing else. */
    @Test
    void givenKept_whenRecalledForNobody_thenItIsGivenBackAndAcquiredAnew() throws Exception {
        Lock lock = sticky(locks);
        long token = kept(lock);

        nodes.client().setData(node(), RECALLED, -1);

        awaitGivenBack();
        assertThat(cycle(lock)).isGreaterThan(token);
    }

    /** It cannot be told of a recall any more. */
    @Test
    void givenAClientThatForgetsItsWatches_whenItsConnectionIsCut_thenItIsGivenBack() throws Exception {
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty(ZKClientConfig.DISABLE_AUTO_WATCH_RESET, "true");
        ZooKeeper client = new ZooKeeper(proxy.address().toString(), 60_000, event -> {}, config);
        try (ZooKeeperStore forgetful = ZooKeeperStore.builder(client).build()) {
            long unused = kept(sticky(new LockFactory(forgetful)));
            assertThat(nodes.line(resource)).hasSize(1);

            proxy.cut();

            awaitGivenBack();
        } finally {
            client.close();
        }
    }

    /** The servers do not know how long it is to be kept: the store does. */
    @Test
    void givenKept_whenNobodyAsksForLongerThanItIsToBeKept_thenItIsGivenBack() throws Exception {
        // On a busy machine it has to be kept for long enough to be used again and seen.
        Duration moment = TimeLimits.ttl(Duration.ofSeconds(8));
        long unused = kept(locks.lock(resource).ttl(moment).sticky(moment).create());
        assertThat(nodes.line(resource)).hasSize(1);

        awaitGivenBack();
    }

    @Test
    void givenInUse_whenThatTakesLongerThanItIsToBeKept_thenItIsHeldUntilTheReleaseWhichIsReal() throws Exception {
        Duration moment = Duration.ofMillis(100);
        // It is found by a look that comes each sixteenth of the session.
        try (ZooKeeperStore brief = Stores.open(proxy.address(), SHORT_SESSION)) {
            Lock lock = new LockFactory(brief)
                    .lock(resource)
                    .ttl(moment)
                    .sticky(moment)
                    .create();
            assertThat(lock.tryAcquire()).isTrue();
            Awaitility.await().pollDelay(Duration.ofSeconds(4)).until(() -> true);

            assertThat(lock.isExpired()).isFalse();
            assertThat(lock.isAcquired()).isTrue();
            assertThat(lock.release()).isTrue();

            assertThat(nodes.line(resource)).isEmpty();
        }
    }

    @Test
    void givenKept_whenItsNodeIsDeletedByAnAdministrator_thenItIsNotHeldHereAnyMore() throws Exception {
        Lock lock = sticky(locks);
        long token = kept(lock);

        nodes.client().delete(node(), -1);

        Lock rival = rivals.createLock(resource, TTL);
        assertThat(rival.tryAcquire()).isTrue();
        assertThat(rival.fencingToken().orElseThrow()).isGreaterThan(token);
        Awaitility.await().atMost(LIMIT).until(() -> !(lock.tryAcquire() && lock.release()));
        assertThat(rival.isAcquired()).isTrue();
    }

    @Test
    void givenInUse_whenItsNodeIsDeletedByAnAdministrator_thenItsHolderIsToldAtOnce() throws Exception {
        CompletableFuture<LossReason> told = new CompletableFuture<>();
        Lock lock = sticky(locks);
        lock.onLost(told::complete);
        long unused = kept(lock);
        assertThat(lock.tryAcquire()).isTrue();

        nodes.client().delete(node(), -1);

        assertThat(told).succeedsWithin(LIMIT).isEqualTo(LossReason.RELEASED_ELSEWHERE);
        assertThat(lock.isExpired()).isTrue();
    }

    @Test
    void givenKept_whenTheSessionExpires_thenItIsAcquiredAnewWithAGreaterToken() throws Exception {
        Lock lock = sticky(locks);
        long token = kept(lock);

        expire(store);

        Lock rival = rivals.createLock(resource, TTL);
        assertThat(rival.tryAcquire(LIMIT)).isTrue();
        long next = rival.fencingToken().orElseThrow();
        assertThat(next).isGreaterThan(token);
        Awaitility.await().atMost(LIMIT).ignoreExceptions().until(() -> !(lock.tryAcquire() && lock.release()));
        assertThat(rival.release()).isTrue();
        assertThat(cycle(lock)).isGreaterThan(next);
    }

    /** Nothing is believed for longer than the servers keep the session. */
    @Test
    void givenKept_whenTheNetworkIsSilent_thenItIsNotHeldHereWhenARivalHolds() throws Exception {
        try (ZooKeeperStore brief = Stores.open(proxy.address(), SHORT_SESSION)) {
            Lock lock = sticky(new LockFactory(brief));
            long token = kept(lock);
            proxy.silence();

            Lock rival = rivals.createLock(resource, TTL);
            assertThat(rival.tryAcquire(LIMIT)).isTrue();

            assertThat(rival.fencingToken().orElseThrow()).isGreaterThan(token);
            assertThatThrownBy(lock::tryAcquire).isInstanceOf(LockStorageException.class);
            proxy.heal();
            Awaitility.await().atMost(LIMIT).ignoreExceptions().until(() -> !lock.tryAcquire());
            assertThat(rival.isAcquired()).isTrue();
        }
    }

    @Test
    void givenInUse_whenTheNetworkIsSilent_thenTheHolderKnowsBeforeARivalHolds() throws Exception {
        List<String> events = new CopyOnWriteArrayList<>();
        try (ZooKeeperStore brief = Stores.open(proxy.address(), SHORT_SESSION)) {
            Lock lock = sticky(new LockFactory(brief));
            lock.onLost(reason -> events.add("lost " + reason));
            long token = kept(lock);
            assertThat(lock.tryAcquire()).isTrue();
            BackgroundCall<Lock> rival = waiting(rivals, resource, 2);

            proxy.silence();
            Lock taken = rival.result();
            // By the clock: on a busy machine, the thread that tells the holder may come later.
            events.add(lock.isExpired() ? "rival holds" : "both hold");

            Awaitility.await()
                    .atMost(LIMIT)
                    .untilAsserted(() -> assertThat(events).hasSize(2));
            assertThat(events).containsExactlyInAnyOrder("lost SESSION_LOST", "rival holds");
            assertThat(taken.fencingToken().orElseThrow()).isGreaterThan(token + 1);
            proxy.heal();
        }
    }
}
