package dev.latchkey.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LossReason;
import dev.latchkey.servers.ZooKeeperEnsemble;
import dev.latchkey.servers.ZooKeeperServer;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Three servers, of which one fails. */
class EnsembleIT {

    private static final Duration LIMIT = TimeLimits.LIMIT;
    private static final long SESSION_MILLIS = LIMIT.multipliedBy(2).toMillis();
    private static final Duration TTL = Duration.ofMinutes(5);

    /** So long followers wait for a silent leader: longer than any session here, which a new leader would take over. */
    private static final String SYNC_LIMIT = "syncLimit=" + LIMIT.dividedBy(ZooKeeperServer.TICK);

    private ZooKeeperEnsemble ensemble;

    @BeforeEach
    void start() {
        ensemble = ZooKeeperEnsemble.start(SYNC_LIMIT, "maxSessionTimeout=" + SESSION_MILLIS);
    }

    @AfterEach
    void stop() {
        ensemble.close();
    }

    /** Half of a session outlasts an election, however long that may take. */
    private ZooKeeperStore open() {
        return Stores.open(ensemble.dsn() + "?sessionTimeout=" + SESSION_MILLIS + "ms");
    }

    @Test
    void givenHeldAndWaitedFor_whenTheLeaderIsKilled_thenBothGoOnAndTokensGrow() throws Exception {
        try (ZooKeeperStore store = open();
                ZooKeeperStore other = open()) {
            List<LossReason> told = new CopyOnWriteArrayList<>();
            Lock holder = new LockFactory(store).createLock("report", TTL);
            holder.onLost(told::add);
            assertThat(holder.tryAcquire()).isTrue();
            long token = holder.fencingToken().orElseThrow();
            assertThat(store.sessions().forUse("report").client().getSessionTimeout())
                    .as("granted")
                    .isEqualTo((int) SESSION_MILLIS);
            BackgroundCall<Lock> waiting =
                    BackgroundCall.start(new LockFactory(other).createLock("report", TTL)::acquire);
            Awaitility.await()
                    .atMost(LIMIT)
                    .until(() -> other.sessions().forUse("report").waiting() == 1);

            ZooKeeperServer killed = ensemble.leader();
            killed.kill();
            ensemble.leader();

            Awaitility.await().atMost(LIMIT).ignoreExceptions().until(holder::isAcquired);
            assertThat(told).isEmpty();
            assertThat(waiting.isDone()).isFalse();
            assertThat(holder.release()).isTrue();
            Lock next = waiting.result();
            assertThat(next.fencingToken().orElseThrow()).isGreaterThan(token);
            assertThat(next.release()).isTrue();

            killed.restart();
            ensemble.awaitAll();
            assertThat(next.tryAcquire()).isTrue();
        }
    }

    @Test
    void givenKept_whenTheLeaderIsKilled_thenItStaysKeptAndIsGivenBackToWhoAsks() {
        try (ZooKeeperStore store = open();
                ZooKeeperStore other = open()) {
            Lock lock = new LockFactory(store).lock("kept").ttl(TTL).sticky(TTL).create();
            assertThat(lock.tryAcquire()).isTrue();
            long token = lock.fencingToken().orElseThrow();
            // An answer that comes after that of the watch, without which a kept hold would be given back.
            assertThat(lock.isAcquired()).isTrue();
            assertThat(lock.release()).isTrue();

            ZooKeeperServer killed = ensemble.leader();
            killed.kill();
            ensemble.leader();

            assertThat(used(lock)).isEqualTo(token + 1);
            Lock rival = new LockFactory(other).createLock("kept", TTL);
            Awaitility.await().atMost(LIMIT).ignoreExceptions().until(() -> rival.tryAcquire(LIMIT));
            long next = rival.fencingToken().orElseThrow();
            assertThat(next).isGreaterThan(token + 1);
            assertThat(rival.release()).isTrue();

            killed.restart();
            ensemble.awaitAll();
            assertThat(used(lock)).isGreaterThan(next);
        }
    }

    private static long used(Lock lock) {
        assertThat(lock.tryAcquire()).isTrue();
        long token = lock.fencingToken().orElseThrow();
        assertThat(lock.release()).isTrue();
        return token;
    }

    @Test
    void givenHeld_whenTheLeaderIsFrozen_thenTheHolderKnowsBeforeARivalHolds() throws Exception {
        try (ZooKeeperStore store = Stores.open(ensemble.dsn() + Stores.session(Duration.ofSeconds(12)));
                ZooKeeperStore other = open()) {
            List<String> events = new CopyOnWriteArrayList<>();
            Lock holder = new LockFactory(store).createLock("frozen", TTL);
            holder.onLost(reason -> events.add("lost"));
            assertThat(holder.tryAcquire()).isTrue();
            long token = holder.fencingToken().orElseThrow();
            BackgroundCall<Lock> waiting =
                    BackgroundCall.start(new LockFactory(other).createLock("frozen", TTL)::acquire);
            Awaitility.await()
                    .atMost(LIMIT)
                    .until(() -> other.sessions().forUse("frozen").waiting() == 1);

            // The followers answer for a while what they can answer by themselves; the session is not proven by that.
            ZooKeeperServer leader = ensemble.leader();
            leader.freeze();

            Awaitility.await().atMost(LIMIT).until(() -> !events.isEmpty());
            assertThat(holder.isExpired()).isTrue();
            assertThat(events).containsExactly("lost");
            leader.thaw();
            ensemble.awaitAll();
            Lock next = waiting.result();
            assertThat(next.fencingToken().orElseThrow()).isGreaterThan(token);
        }
    }
}
