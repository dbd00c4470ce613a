package dev.latchkey.etcd;

import static dev.latchkey.etcd.Answers.acquire;
import static dev.latchkey.etcd.Answers.answered;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.servers.EtcdCluster;
import dev.latchkey.servers.EtcdServer;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.Fixture;
import dev.latchkey.testkit.TimeLimits;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Three servers of which one fails: the others hold what was granted, and nobody holds it twice. */
class ClusterIT {

    private static final Duration TTL = TimeLimits.ttl(Duration.ofSeconds(6));
    private static final Duration LONG_TTL = Fixture.LONG_TTL;

    /** Longer where the TTL is: a server has a third of it, and a hold has to be renewed by another one in time. */
    private static final String TIMEOUT =
            "?timeout=" + TimeLimits.ttl(EtcdStore.DEFAULT_TIMEOUT).toMillis() + "ms";

    private static final int LEADERS = 30;
    private static final Duration LIMIT = TimeLimits.LIMIT;

    private EtcdCluster cluster;
    private EtcdServer leader;

    @BeforeEach
    void start() {
        cluster = EtcdCluster.start();
        leader = cluster.leader();
    }

    @AfterEach
    void stop() {
        cluster.close();
    }

    /** A store that asks the leader first. */
    private LockFactory atLeader() {
        List<EtcdServer> order = new ArrayList<>(List.of(leader));
        order.addAll(others());
        return LockFactory.connect(EtcdCluster.dsn(order) + TIMEOUT);
    }

    private LockFactory atOthers() {
        return LockFactory.connect(EtcdCluster.dsn(others()) + TIMEOUT);
    }

    private List<EtcdServer> others() {
        return cluster.servers().stream()
                .filter(server -> !server.address().equals(leader.address()))
                .toList();
    }

    @Test
    void givenHeldAndWaitedFor_whenTheLeaderIsKilled_thenBothGoOnAndTokensGrow() throws Exception {
        try (LockFactory locks = atLeader();
                LockFactory rivals = atLeader()) {
            Lock holder = locks.createLock("report", LONG_TTL);
            acquire(holder);
            long token = holder.fencingToken().orElseThrow();
            BackgroundCall<Lock> waiting = standInLine(rivals.createLock("report", LONG_TTL)::acquire);

            leader.kill();
            EtcdCluster.leaderAmong(others());

            assertThat(answered(holder::isAcquired)).isTrue();
            assertThat(waiting.isDone()).isFalse();
            assertThat(answered(holder::release)).isTrue();
            assertThat(waiting.result().fencingToken().orElseThrow()).isGreaterThan(token);
        }
    }

    /**
     * When it goes on, it takes itself for the leader for a moment, and all leases that it knows for over. Before 3.4.31 it has
     * the new leader end them, so a lease that was renewed there would end, too.
     */
    @Test
    void givenRenewed_whenTheLeaderIsFrozenForLongerThanTheTtlAndGoesOn_thenTheHolderHoldsStill() throws Exception {
        // It asks the frozen leader first, and then the others, which may have to choose one yet.
        Duration ttl = TimeLimits.ttl(Duration.ofSeconds(10));
        List<LossReason> losses = new CopyOnWriteArrayList<>();
        try (LockFactory locks = atLeader();
                LockFactory rivals = atOthers()) {
            Lock holder = locks.lock("report")
                    .ttl(ttl)
                    .autoRefresh()
                    .onLost(losses::add)
                    .create();
            acquire(holder);
            long token = holder.fencingToken().orElseThrow();

            leader.freeze();
            EtcdCluster.leaderAmong(others());
            awaitThatATtlIsOver(rivals, ttl.multipliedBy(2));
            leader.thaw();
            cluster.awaitAll();
            awaitThatATtlIsOver(rivals, Duration.ofSeconds(2));

            assertThat(losses).isEmpty();
            assertThat(answered(holder::isAcquired)).isTrue();
            assertThat(holder.fencingToken()).hasValue(token);
            assertThat(answered(rivals.createLock("report", ttl)::tryAcquire)).isFalse();
        }
    }

    @Test
    void givenNotRenewed_whenTheLeaderIsFrozenAndARivalHolds_thenTheHolderKnewBefore() throws Exception {
        try (LockFactory locks = atLeader();
                LockFactory rivals = atOthers()) {
            Lock holder = locks.createLock("report", TTL);
            acquire(holder);
            long token = holder.fencingToken().orElseThrow();
            BackgroundCall<Long> rival = standInLine(() -> {
                Lock lock = rivals.createLock("report", TTL).acquire();
                assertThat(holder.isExpired()).as("the holder knows").isTrue();
                return lock.fencingToken().orElseThrow();
            });

            leader.freeze();

            assertThat(rival.result()).isGreaterThan(token);
            leader.thaw();
            assertThat(answered(holder::release)).isFalse();
        }
    }

    @Test
    void givenTwoOfThreeAreFrozen_whenAsked_thenItFailsAndThenTheSameHolderHolds() {
        try (LockFactory locks = atLeader()) {
            Lock holder = locks.createLock("report", LONG_TTL);
            acquire(holder);
            others().forEach(EtcdServer::freeze);

            LockStorageException failure = failure(locks.createLock("other", LONG_TTL));

            others().forEach(EtcdServer::thaw);
            assertThat(failure).isNotNull();
            cluster.awaitAll();
            assertThat(answered(holder::isAcquired)).isTrue();
            assertThat(answered(holder::release)).isTrue();
        }
    }

    /** A server that leads no longer, or does not do so yet, takes all leases for endless. */
    @Test
    void givenATransferredKey_whenTheLeaderChangesAgainAndAgain_thenItIsNeverBelievedForLongerThanItsLease() {
        List<EtcdStore> stores = cluster.servers().stream()
                .map(server -> Stores.open(server.dsn()))
                .toList();
        try (LockFactory locks = atLeader()) {
            Lock lock = locks.createLock("report", LONG_TTL);
            acquire(lock);
            Key key = lock.transferKey();
            AtomicBoolean isOver = new AtomicBoolean();
            List<BackgroundCall<Duration>> longest = stores.stream()
                    .map(store -> BackgroundCall.start(() -> longest(store, key, isOver)))
                    .toList();

            for (int i = 0; i < LEADERS; i++) {
                moveLeader(cluster.servers().get(i % cluster.servers().size()));
            }

            isOver.set(true);
            for (BackgroundCall<Duration> one : longest) {
                assertThat(result(one)).isBetween(Duration.ofNanos(1), LONG_TTL.multipliedBy(2));
            }
        } finally {
            stores.forEach(EtcdStore::close);
        }
    }

    /** Begins to wait for the report, and again if a request on the way into the line was not answered. */
    private <T> BackgroundCall<T> standInLine(Callable<T> wait) {
        for (int i = 0; i < 5; i++) {
            BackgroundCall<T> waiting = BackgroundCall.start(wait);
            Awaitility.await().atMost(LIMIT).until(() -> waiting.isDone() || isWaitedFor("report"));
            if (!waiting.isDone()) {
                return waiting;
            }
            assertThatThrownBy(waiting::result).isInstanceOf(LockStorageException.class);
        }
        throw new AssertionError("nobody gets into the line");
    }

    private static Duration longest(EtcdStore store, Key key, AtomicBoolean isOver) {
        Duration longest = Duration.ZERO;
        while (!isOver.get()) {
            try {
                Duration left =
                        store.find(key).map(granted -> granted.lease().ttl()).orElse(Duration.ZERO);
                longest = left.compareTo(longest) > 0 ? left : longest;
            } catch (LockStorageException e) {
                // Nobody leads just now.
            }
        }
        return longest;
    }

    private static Duration result(BackgroundCall<Duration> call) {
        try {
            return call.result();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private void moveLeader(EtcdServer next) {
        Matcher id = Pattern.compile("\"ID\":\"(\\d+)\"[^}]*" + next.address())
                .matcher(next.call("cluster/member/list", "{}"));
        assertThat(id.find()).isTrue();
        Awaitility.await().atMost(LIMIT).ignoreExceptions().until(() -> {
            EtcdServer now = cluster.leader();
            if (!now.address().equals(next.address())) {
                now.call("maintenance/transfer-leadership", "{\"targetID\":\"" + id.group(1) + "\"}");
            }
            return next.leads();
        });
    }

    private static LockStorageException failure(Lock lock) {
        try {
            assertThat(lock.tryAcquire()).isFalse();
        } catch (LockStorageException e) {
            return e;
        }
        throw new AssertionError("granted without a quorum");
    }

    private boolean isWaitedFor(String resource) {
        String from = base64("latchkey/" + resource + "/q/");
        String to = base64("latchkey/" + resource + "/q0");
        return others().get(0)
                .call("kv/range", "{\"key\":\"" + from + "\",\"range_end\":\"" + to + "\",\"count_only\":true}")
                .contains("\"count\"");
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    private static void awaitThatATtlIsOver(LockFactory locks, Duration ttl) {
        Lock sentinel = locks.createLock("sentinel", ttl);
        acquire(sentinel);
        Awaitility.await("a TTL of " + ttl + " to be over").atMost(LIMIT).until(sentinel::isExpired);
        sentinel.release();
    }
}
