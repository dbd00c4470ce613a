package dev.latchkey.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.EtcdServer;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What becomes of watches when the store moves on to another server. */
class WatchesIT {

    private static final Duration LIMIT = TimeLimits.LIMIT;
    private static final KeyRange ONE = KeyRange.below("latchkey/one/");
    private static final KeyRange OTHER = KeyRange.below("latchkey/other/");

    private EtcdServer server;
    private Calls calls;
    private Watches watches;
    private LockFactory locks;

    @BeforeEach
    void start() {
        server = EtcdServer.start();
        calls = new Calls(Dsn.parse(server.dsn()).endpoints(), Duration.ofSeconds(5));
        watches = new Watches(calls);
        locks = LockFactory.connect(server.dsn());
    }

    @AfterEach
    void stop() {
        locks.close();
        watches.close();
        calls.close();
        server.close();
    }

    private void awaitWatchers(long count) {
        Awaitility.await("watchers").atMost(LIMIT).until(() -> server.watchers() == count);
    }

    /** Each stream numbers its watches from zero on. */
    @Test
    void givenAnotherStream_whenAWatchOfTheFirstIsStopped_thenTheOthersGoOn() throws Exception {
        Watches.Watch first = watches.start("one", ONE, 0);
        awaitWatchers(1);
        calls.moveOn(calls.server());
        Watches.Watch second = watches.start("other", OTHER, 0);
        Awaitility.await().atMost(LIMIT).until(() -> second.begun().isDone());

        watches.stop(first);
        // Served after whatever the stop has sent.
        Watches.Watch third = watches.start("one", ONE, 0);
        Awaitility.await().atMost(LIMIT).until(() -> third.begun().isDone());
        acquireAndRelease("other");

        assertThat(second.done().get(LIMIT.toSeconds(), TimeUnit.SECONDS))
                .as("told of a deletion")
                .isTrue();
    }

    private void acquireAndRelease(String resource) {
        Lock lock = locks.createLock(resource, Duration.ofMinutes(5));
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(lock.release()).isTrue();
    }

    /** All waiters of the store, and its end, would wait for an answer that one of them waits for. */
    @Test
    void givenTheServerIsSilent_whenOneWaitsForAPassword_thenNobodyElseWaitsForThat() throws Exception {
        try (FaultProxy network = FaultProxy.to(server.address())) {
            network.silence();
            Calls silent = new Calls(
                    Dsn.parse("etcd://orders:secret@" + network.address()).endpoints(), Duration.ofHours(1));
            Watches slow = new Watches(silent);
            BackgroundCall<Watches.Watch> first = BackgroundCall.start(() -> slow.start("one", ONE, 0));
            first.awaitWaiting();

            BackgroundCall<Boolean> closing = BackgroundCall.start(() -> {
                slow.close();
                return true;
            });

            assertThat(closing.result()).isTrue();
            assertThat(first.isDone()).isFalse();
            silent.close();
        }
    }

    @Test
    void givenMovedOnAgainAndAgain_whenWatched_thenTheServerKeepsTheLastWatchAlone() {
        for (int i = 0; i < 10; i++) {
            Watches.Watch watch = watches.start("one", ONE, 0);
            Awaitility.await().atMost(LIMIT).until(() -> watch.begun().isDone());
            calls.moveOn(calls.server());
        }

        Watches.Watch last = watches.start("one", ONE, 0);

        Awaitility.await().atMost(LIMIT).until(() -> last.begun().isDone());
        awaitWatchers(1);
    }

    /** Until it has caught up, at most a tenth of a second later, a server tells a watch from an earlier revision on nothing. */
    @Test
    void givenTheClusterHasWrittenSinceTheLook_whenAnEndIsAwaited_thenTheServerNeedNotCatchUp() throws Exception {
        Services services = services();
        Lock held = locks.createLock("one", Duration.ofMinutes(5));
        assertThat(held.tryAcquire()).isTrue();
        long looked = held.fencingToken().orElseThrow();
        for (int i = 0; i < 10; i++) {
            acquireAndRelease("other");
            WaitEnd end = end();
            BackgroundCall<Boolean> waiting = BackgroundCall.start(() -> {
                services.awaitEnd("one", ONE, looked + 1, end);
                return true;
            });
            Awaitility.await("watchers")
                    .pollInterval(Duration.ofMillis(1))
                    .atMost(LIMIT)
                    .until(() -> server.watchers() == 1);

            assertThat(server.lateWatchers()).as("turn %d", i).isZero();

            end.stop();
            assertThat(waiting.result()).isTrue();
            awaitWatchers(0);
        }
    }

    /** A write at the very moment in which a watch begins makes it a late one, too: not in most turns. */
    @Test
    void givenTheClusterWritesAllTheTime_whenAPromotionIsAwaited_thenTheServerNeedNotCatchUp() throws Exception {
        AtomicBoolean isOver = new AtomicBoolean();
        BackgroundCall<Boolean> writing = BackgroundCall.start(() -> {
            while (!isOver.get()) {
                acquireAndRelease("other");
            }
            return true;
        });
        int lateTurns = 0;
        for (int i = 0; i < 10; i++) {
            Lock reader = locks.createLock("one", Duration.ofMinutes(5));
            assertThat(reader.tryAcquireShared()).isTrue();
            Lock promoter = locks.createLock("one", Duration.ofMinutes(5));
            assertThat(promoter.tryAcquireShared()).isTrue();
            BackgroundCall<Lock> promoting = BackgroundCall.start(promoter::acquire);
            Awaitility.await("watchers")
                    .pollInterval(Duration.ofMillis(1))
                    .atMost(LIMIT)
                    .until(() -> server.watchers() == 1);

            lateTurns += server.lateWatchers() == 0 ? 0 : 1;

            assertThat(reader.release()).isTrue();
            assertThat(promoting.result().release()).isTrue();
            awaitWatchers(0);
        }
        isOver.set(true);
        assertThat(writing.result()).isTrue();
        assertThat(lateTurns).isLessThan(4);
    }

    /** In several turns, for one alone may be slow. */
    @Test
    void givenTheKeyWasDeletedSinceTheLook_whenItsEndIsAwaited_thenThatIsSeenBeforeTheNextLook() throws Exception {
        Services services = services();
        long fastestNanos = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            Lock held = locks.createLock("one", Duration.ofMinutes(5));
            assertThat(held.tryAcquire()).isTrue();
            long looked = held.fencingToken().orElseThrow();
            assertThat(held.release()).isTrue();
            Lock next = locks.createLock("one", Duration.ofMinutes(5));
            assertThat(next.tryAcquire()).isTrue();

            long startNanos = System.nanoTime();
            services.awaitEnd("one", ONE, looked + 1, end());

            fastestNanos = Math.min(fastestNanos, System.nanoTime() - startNanos);
            assertThat(next.release()).isTrue();
        }
        assertThat(fastestNanos).isLessThan(QueueWait.LOOK_NANOS);
    }

    private Services services() {
        Transactions transactions = new Transactions(calls, EtcdStore.DEFAULT_ROOT);
        Leases leases = new Leases(calls);
        return new Services(
                calls,
                transactions,
                leases,
                new Holds(transactions, leases),
                new WaiterLease(calls),
                watches,
                new ResourceMutexes());
    }

    private static WaitEnd end() {
        return new WaitEnd(System.nanoTime() + LIMIT.toNanos(), new CompletableFuture<>());
    }
}
