package dev.latchkey.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.EtcdServer;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
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
        calls = new Calls(Dsn.parse(server.dsn()).endpoints(), TimeLimits.scaled(Duration.ofSeconds(5)));
        watches = new Watches(calls);
        locks = LockFactory.connect(PatientDsn.etcd(server.dsn()));
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
        DeletionWatch.Waiter first = watches.start("one", ONE, ONE, OptionalLong.empty());
        awaitWatchers(1);
        calls.moveOn(calls.server());
        DeletionWatch.Waiter second = watches.start("other", OTHER, OTHER, OptionalLong.empty());
        Awaitility.await().atMost(LIMIT).until(() -> second.begun().isDone());

        first.stop();
        // Served after whatever the stop has sent.
        DeletionWatch.Waiter third = watches.start("one", ONE, ONE, OptionalLong.empty());
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
            BackgroundCall<DeletionWatch.Waiter> first =
                    BackgroundCall.start(() -> slow.start("one", ONE, ONE, OptionalLong.empty()));
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
            DeletionWatch.Waiter watch = watches.start("one", ONE, ONE, OptionalLong.empty());
            Awaitility.await().atMost(LIMIT).until(() -> watch.begun().isDone());
            calls.moveOn(calls.server());
        }

        DeletionWatch.Waiter last = watches.start("one", ONE, ONE, OptionalLong.empty());

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
        acquireAndRelease("other");
        WaitEnd end = end();

        BackgroundCall<Boolean> waiting = BackgroundCall.start(() -> {
            boolean isGone = false;
            // It gives up by itself after a while.
            while (!isGone && !end.isOver()) {
                isGone = services.awaitEnd("one", ONE, ONE, looked + 1, end);
            }
            return isGone;
        });
        awaitWatchers(1);

        assertThat(server.lateWatchers()).isZero();
        end.stop();
        assertThat(waiting.result()).isFalse();
    }

    private long watchRequestsOfTwentyTurns() throws InterruptedException {
        long before = server.watchRequests();
        Lock lock = locks.createLock("one", Duration.ofMinutes(5));
        for (int i = 0; i < 20; i++) {
            assertThat(lock.acquire().release()).isTrue();
        }
        return server.watchRequests() - before;
    }

    /**
     * A watch that begins at the very moment of a write is told nothing for up to a tenth of a second. One begins anew after a
     * second in which nobody waits, as on a busy machine.
     */
    @Test
    void givenTheClusterWritesAllTheTime_whenTwoTakeTurns_thenNoWaitBeginsAWatch() throws Exception {
        AtomicBoolean isOver = new AtomicBoolean();
        try (LockFactory rivals = LockFactory.connect(PatientDsn.etcd(server.dsn()))) {
            List<BackgroundCall<Boolean>> takingTurns = Stream.of(locks, rivals)
                    .map(factory -> BackgroundCall.start(() -> {
                        while (!isOver.get()) {
                            Lock lock = factory.createLock("one", Duration.ofMinutes(5))
                                    .acquire();
                            acquireAndRelease("other-" + lock.key().token());
                            lock.release();
                        }
                        return true;
                    }))
                    .toList();
            awaitWatchers(2);

            long requests = watchRequestsOfTwentyTurns();
            for (int i = 0; i < 2 && requests >= 10; i++) {
                requests = watchRequestsOfTwentyTurns();
            }

            assertThat(requests).isLessThan(10);
            isOver.set(true);
            for (BackgroundCall<Boolean> one : takingTurns) {
                assertThat(one.result()).isTrue();
            }
        }
    }

    @Test
    void givenADeletionWasTold_whenWhoLookedBeforeWaitsForIt_thenItIsTold() throws Exception {
        DeletionWatch.Waiter first = watches.start("one", ONE, ONE, OptionalLong.empty());
        awaitWatchers(1);
        Lock lock = locks.createLock("one", Duration.ofMinutes(5));
        assertThat(lock.tryAcquire()).isTrue();
        long created = lock.fencingToken().orElseThrow();
        assertThat(lock.release()).isTrue();
        assertThat(first.done().get(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();

        DeletionWatch.Waiter before = watches.start("one", ONE, ONE, OptionalLong.of(created + 1));
        DeletionWatch.Waiter after = watches.start("one", ONE, ONE, OptionalLong.of(created + 2));
        DeletionWatch.Waiter elsewhere =
                watches.start("one", ONE, KeyRange.below("latchkey/one/q/"), OptionalLong.of(created + 1));

        assertThat(before.done()).isCompletedWithValue(true);
        assertThat(after.done()).isNotDone();
        assertThat(after.missesNothing()).isTrue();
        assertThat(elsewhere.done()).isNotDone();
    }

    @Test
    void givenNobodyWaitsAnyMore_whenAWhileHasPassed_thenTheServerWatchesNothing() {
        DeletionWatch.Waiter first = watches.start("one", ONE, ONE, OptionalLong.empty());
        awaitWatchers(1);
        DeletionWatch.Waiter second = watches.start("one", ONE, ONE, OptionalLong.empty());

        first.stop();
        second.stop();

        awaitWatchers(0);
        DeletionWatch.Waiter third = watches.start("one", ONE, ONE, OptionalLong.empty());
        Awaitility.await().atMost(LIMIT).until(() -> third.begun().isDone());
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
            assertThat(services.awaitEnd("one", ONE, ONE, looked + 1, end())).isTrue();

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
