package dev.latchkey.etcd;

import static dev.latchkey.etcd.Answers.acquire;
import static dev.latchkey.etcd.Answers.answered;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.servers.EtcdCluster;
import dev.latchkey.servers.EtcdServer;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.Fixture;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The leader of three servers is cut off from the others, and clients reach all of them. */
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class PartitionIT {

    private static final Duration TTL = TimeLimits.ttl(Duration.ofSeconds(6));
    private static final Duration LONG_TTL = Fixture.LONG_TTL;

    /** Longer where the TTL is: a server has a third of it, and a hold has to be renewed by another one in time. */
    private static final String TIMEOUT =
            "?timeout=" + TimeLimits.ttl(EtcdStore.DEFAULT_TIMEOUT).toMillis() + "ms";

    private static final Duration LIMIT = TimeLimits.LIMIT;

    private EtcdCluster cluster;
    private EtcdServer leader;
    private List<EtcdServer> others;

    @BeforeEach
    void start() {
        cluster = EtcdCluster.startSeparable();
        leader = cluster.leader();
        others = cluster.servers().stream()
                .filter(server -> !server.address().equals(leader.address()))
                .toList();
    }

    @AfterEach
    void stop() {
        cluster.close();
    }

    private void cutOffTheLeader() {
        cluster.cutOff(leader);
        EtcdCluster.leaderAmong(others);
    }

    private void heal() {
        cluster.heal();
        cluster.awaitAll();
    }

    private LockFactory atAllButTheLeader() {
        return LockFactory.connect(EtcdCluster.dsn(others) + TIMEOUT);
    }

    private LockFactory atTheLeaderFirst() {
        List<EtcdServer> order = new ArrayList<>(List.of(leader));
        order.addAll(others);
        return LockFactory.connect(EtcdCluster.dsn(order) + TIMEOUT);
    }

    private LockFactory atTheLeaderAlone() {
        return LockFactory.connect(leader.dsn() + "?timeout="
                + TimeLimits.ttl(Duration.ofSeconds(6)).toMillis() + "ms");
    }

    /** Begins to wait, and again if a request on the way into the line was not answered. */
    private BackgroundCall<Lock> standInLine(Lock lock) {
        for (int i = 0; i < 5; i++) {
            BackgroundCall<Lock> waiting = BackgroundCall.start(lock::acquire);
            // On a busy machine, the store may have gone on to another server.
            Awaitility.await()
                    .atMost(LIMIT)
                    .until(() -> waiting.isDone()
                            || cluster.servers().stream()
                                            .mapToLong(EtcdServer::watchers)
                                            .sum()
                                    == 1);
            if (!waiting.isDone()) {
                return waiting;
            }
            assertThatThrownBy(waiting::result).isInstanceOf(LockStorageException.class);
        }
        throw new AssertionError("nobody gets into the line");
    }

    @Test
    void givenAHolderKnowsTheLeaderAlone_whenThatIsCutOffAndARivalHolds_thenItKnewBeforeAndTheTokenIsGreater()
            throws Exception {
        try (LockFactory locks = atTheLeaderAlone();
                LockFactory rivals = atAllButTheLeader()) {
            List<LossReason> losses = new CopyOnWriteArrayList<>();
            Lock holder = locks.lock("report")
                    .ttl(TTL)
                    .autoRefresh()
                    .onLost(losses::add)
                    .create();
            acquire(holder);
            long token = holder.fencingToken().orElseThrow();
            cutOffTheLeader();

            Lock rival = rivals.createLock("report", LONG_TTL);
            assertThat(answered(() -> rival.tryAcquire(LIMIT))).isTrue();

            assertThat(holder.isExpired()).as("the holder knows").isTrue();
            assertThat(rival.fencingToken().orElseThrow()).isGreaterThan(token);
            Awaitility.await().atMost(LIMIT).until(() -> losses.size() == 1);
            heal();
            assertThat(holder.isAcquired()).isFalse();
            assertThat(rival.release()).isTrue();
        }
    }

    @Test
    void givenAClientTalksToTheMinority_whenItTriesAndReleases_thenItFailsAndNothingChanges() throws Exception {
        try (LockFactory minority = atTheLeaderAlone();
                LockFactory majority = atAllButTheLeader()) {
            Lock held = minority.createLock("held", LONG_TTL);
            acquire(held);
            cutOffTheLeader();

            assertThatThrownBy(minority.createLock("free", LONG_TTL)::tryAcquire)
                    .isInstanceOf(LockStorageException.class);
            assertThatThrownBy(held::isAcquired).isInstanceOf(LockStorageException.class);

            assertThat(answered(majority.createLock("held", LONG_TTL)::tryAcquire))
                    .isFalse();
            Lock free = majority.createLock("free", LONG_TTL);
            acquire(free);
            heal();
            assertThat(answered(free::isAcquired)).isTrue();
            assertThat(answered(held::isAcquired)).isTrue();
            assertThat(held.release()).isTrue();
        }
    }

    @Test
    void givenAHolderThatRenewsAndAWaiterKnowAllServers_whenTheLeaderIsCutOff_thenBothGoOn() throws Exception {
        // It asks the leader that is cut off first, and then the others, which may have to choose one yet.
        Duration ttl = TimeLimits.ttl(Duration.ofSeconds(10));
        try (LockFactory locks = atTheLeaderFirst();
                LockFactory rivals = atTheLeaderFirst();
                LockFactory majority = atAllButTheLeader()) {
            List<LossReason> losses = new CopyOnWriteArrayList<>();
            Lock holder = locks.lock("report")
                    .ttl(ttl)
                    .autoRefresh()
                    .onLost(losses::add)
                    .create();
            acquire(holder);
            long token = holder.fencingToken().orElseThrow();
            BackgroundCall<Lock> waiting = standInLine(rivals.createLock("report", LONG_TTL));
            cutOffTheLeader();
            // A hold that is not renewed meanwhile has ended.
            Lock other = majority.createLock("other", ttl);
            acquire(other);
            Awaitility.await().atMost(LIMIT).until(other::isExpired);

            assertThat(losses).isEmpty();
            assertThat(answered(holder::isAcquired)).isTrue();
            assertThat(holder.fencingToken()).hasValue(token);
            assertThat(waiting.isDone()).isFalse();
            assertThat(holder.release()).isTrue();
            assertThat(waiting.result().fencingToken().orElseThrow()).isGreaterThan(token);
            heal();
            assertThat(waiting.result().isAcquired()).isTrue();
        }
    }
}
