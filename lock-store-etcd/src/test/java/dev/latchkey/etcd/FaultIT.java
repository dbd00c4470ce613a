package dev.latchkey.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.EtcdServer;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.Fixture;
import dev.latchkey.testkit.TimeLimits;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.TxnResponse;
import io.etcd.jetcd.api.WatchGrpc;
import io.etcd.jetcd.api.WatchResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What can go wrong between a store and one server. */
@Execution(ExecutionMode.CONCURRENT)
class FaultIT {

    private static final Duration LONG_TTL = Fixture.LONG_TTL;
    private static final Duration LIMIT = TimeLimits.LIMIT;

    /** The time limit of a request that is not answered. */
    private static final Duration SHORT = TimeLimits.ttl(Duration.ofSeconds(8));

    private EtcdServer server;
    private FaultProxy proxy;

    @BeforeEach
    void start() {
        server = EtcdServer.start();
        proxy = FaultProxy.to(server.address());
    }

    @AfterEach
    void stop() {
        proxy.close();
        server.close();
    }

    private LockFactory direct() {
        return LockFactory.connect(PatientDsn.etcd(server.dsn()));
    }

    private LockFactory byProxy() {
        return LockFactory.connect(PatientDsn.etcd("etcd://" + proxy.address()));
    }

    private LockFactory byProxy(String options) {
        return LockFactory.connect("etcd://" + proxy.address() + options);
    }

    /** Jepsen on etcd 3.4.3: a lease that was granted late was over before it was used, and its user did not know. */
    @Test
    void givenTheLeaseIsGrantedLate_whenARivalHolds_thenTheHolderKnewBefore() throws Exception {
        Duration ttl = TimeLimits.ttl(Duration.ofSeconds(6));
        try (LockFactory locks = byProxy("?timeout=20s");
                LockFactory rivals = direct()) {
            // Connects.
            assertThat(locks.createLock("other", LONG_TTL).tryAcquire()).isTrue();
            Lock holder = locks.createLock("report", ttl);
            proxy.delay(Duration.ofMillis(700));

            assertThat(holder.tryAcquire()).isTrue();

            assertThat(holder.remainingLifetime().orElseThrow()).isLessThan(ttl.minusMillis(1_400));
            Lock rival = rivals.createLock("report", ttl).acquire();
            assertThat(holder.isExpired()).as("the holder knows").isTrue();
            assertThat(rival.isAcquired()).isTrue();
        }
    }

    /** It takes longer than the lease lasts, and ends as what it is: not held. */
    @Test
    void givenTheLeaseIsGrantedAfterItsEnd_whenTried_thenNotHeldAndNobodyIsKeptOut() {
        try (LockFactory locks = byProxy("?timeout=20s");
                LockFactory rivals = direct()) {
            assertThat(locks.createLock("other", LONG_TTL).tryAcquire()).isTrue();
            Lock holder = locks.createLock("report", Duration.ofSeconds(1));
            proxy.delay(Duration.ofMillis(1_500));

            boolean acquired = isAcquired(holder);

            assertThat(acquired && !holder.isExpired()).isFalse();
            proxy.heal();
            assertThat(rivals.createLock("report", LONG_TTL).tryAcquire() || isFreeSoon(rivals))
                    .isTrue();
        }
    }

    private static boolean isAcquired(Lock lock) {
        try {
            return lock.tryAcquire();
        } catch (LockStorageException e) {
            return false;
        }
    }

    private static boolean isFreeSoon(LockFactory locks) {
        Awaitility.await()
                .atMost(LIMIT)
                .until(() -> locks.createLock("report", LONG_TTL).tryAcquire());
        return true;
    }

    @Test
    void givenNothingListens_whenTried_thenNotSent() {
        proxy.close();
        try (LockFactory locks = byProxy("?timeout=300ms")) {
            Lock lock = locks.createLock("report", LONG_TTL);

            assertThatThrownBy(lock::tryAcquire)
                    .isInstanceOfSatisfying(
                            LockStorageException.class,
                            failure -> assertThat(failure.failure()).isEqualTo(LockStorageException.Failure.NOT_SENT));
        }
    }

    /** As a proxy may answer that does not know the protocol. */
    @Test
    void givenCallsEndWithoutAnAnswer_whenTried_thenItFails() {
        try (AnswerProxy swallowing = AnswerProxy.to(server.address());
                LockFactory locks = LockFactory.connect(swallowing.dsn())) {
            swallowing.swallow(KVGrpc.getTxnMethod());
            BackgroundCall<Boolean> trying = BackgroundCall.start(locks.createLock("report", LONG_TTL)::tryAcquire);

            assertThatThrownBy(trying::result).isInstanceOf(LockStorageException.class);
        }
    }

    @Test
    void givenSilence_whenReleased_thenInDoubtWithinTheTimeLimitAndFreeAtTheEndOfTheLease() throws Exception {
        try (LockFactory locks = byProxy("?timeout=" + SHORT.toMillis() + "ms");
                LockFactory rivals = direct()) {
            connect(locks);
            Lock holder = locks.createLock("report", TimeLimits.ttl(Duration.ofSeconds(10)));
            assertThat(holder.tryAcquire()).isTrue();
            proxy.silence();
            long began = System.nanoTime();

            assertThatThrownBy(holder::release)
                    .isInstanceOfSatisfying(
                            LockStorageException.class,
                            failure -> assertThat(failure.failure()).isEqualTo(LockStorageException.Failure.IN_DOUBT));

            assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(SHORT.multipliedBy(3));
            assertThat(rivals.createLock("report", LONG_TTL).tryAcquire(LIMIT)).isTrue();
        }
    }

    /** The first request opens the connection, and may take longer than others. What it takes ends with its lease. */
    private static void connect(LockFactory locks) {
        Lock other = locks.lock("other")
                .ttl(Duration.ofSeconds(5))
                .withoutAutoRelease()
                .create();
        Awaitility.await()
                .atMost(LIMIT)
                .ignoreExceptionsInstanceOf(LockStorageException.class)
                .until(other::tryAcquire);
    }

    @Test
    void givenWaiting_whenTheConnectionBreaks_thenItWaitsOnAndGetsIt() throws Exception {
        try (LockFactory locks = byProxy();
                LockFactory holders = direct()) {
            Lock holder = holders.createLock("report", LONG_TTL);
            assertThat(holder.tryAcquire()).isTrue();
            BackgroundCall<Lock> waiting = BackgroundCall.start(locks.createLock("report", LONG_TTL)::acquire);
            awaitWatcher();

            proxy.cut();
            awaitWatcher();
            assertThat(waiting.isDone()).isFalse();
            assertThat(holder.release()).isTrue();

            assertThat(waiting.result().isAcquired()).isTrue();
        }
    }

    /** Others of the process keep the lease of all their places, and so would keep one that nobody wants any more. */
    @Test
    void givenTheServerWasAwayForLong_whenItIsBack_thenAPlaceThatWasGivenUpIsLost() throws Exception {
        AtomicBoolean isOver = new AtomicBoolean();
        try (LockFactory locks = byProxy("?timeout=200ms");
                LockFactory rivals = direct()) {
            Lock holder = rivals.createLock("report", LONG_TTL);
            assertThat(holder.tryAcquire()).isTrue();
            BackgroundCall<Lock> abandoned = standInLine(locks);
            server.kill();
            // Longer than the store tries to leave the line.
            long endNanos = System.nanoTime() + Duration.ofSeconds(20).toNanos();
            while (endNanos - System.nanoTime() > 0) {
                tryToWait(locks);
            }
            assertThatThrownBy(abandoned::result).isInstanceOf(LockStorageException.class);
            // All leases begin again.
            server.restart();
            BackgroundCall<Boolean> others = BackgroundCall.start(() -> {
                while (!isOver.get()) {
                    tryToWait(locks);
                }
                return true;
            });

            BackgroundCall<Lock> rival = BackgroundCall.start(rivals.createLock("report", LONG_TTL)::acquire);
            assertThat(holder.release()).isTrue();

            assertThat(rival.result().isAcquired()).isTrue();
            isOver.set(true);
            assertThat(others.result()).isTrue();
        }
    }

    /** Again and again: on a busy machine, a request takes longer than that. */
    private BackgroundCall<Lock> standInLine(LockFactory locks) {
        while (true) {
            BackgroundCall<Lock> waiting = BackgroundCall.start(locks.createLock("report", LONG_TTL)::acquire);
            Awaitility.await().atMost(LIMIT).until(() -> waiting.isDone() || server.watchers() == 1);
            if (!waiting.isDone()) {
                return waiting;
            }
        }
    }

    /** What it holds without knowing, as on a busy machine where a request takes longer than it may, ends soon. */
    private static void tryToWait(LockFactory locks) throws InterruptedException {
        try {
            Lock lock = locks.createLock("report", Duration.ofSeconds(5));
            if (lock.tryAcquire(Duration.ofSeconds(3))) {
                boolean unused = lock.release();
            }
        } catch (LockStorageException e) {
            // The server is away.
        }
    }

    /** It was taken for a request that was never sent: its token was used again. */
    @Test
    void givenAGrantWasNotAnswered_whenTheServerIsAwayThen_thenInDoubtAndTheTokenIsNew() throws Exception {
        try (AnswerProxy answers = AnswerProxy.to(server.address());
                FaultProxy network = FaultProxy.to(answers.address());
                LockFactory locks =
                        LockFactory.connect("etcd://" + network.address() + "?timeout=" + SHORT.toMillis() + "ms");
                LockFactory holders = direct()) {
            Lock holder = holders.createLock("report", LONG_TTL);
            assertThat(holder.tryAcquire()).isTrue();
            connect(locks);
            Lock waiter = locks.createLock("report", Duration.ofSeconds(5));
            String token = waiter.key().token();
            BackgroundCall<Lock> waiting = BackgroundCall.start(waiter::acquire);
            awaitWatcher();
            AtomicBoolean granted = new AtomicBoolean();
            answers.change(KVGrpc.getTxnMethod(), answer -> {
                if (isGrantInLine(answer) && granted.compareAndSet(false, true)) {
                    network.refuse();
                }
                return answer;
            });

            assertThat(holder.release()).isTrue();

            assertThatThrownBy(waiting::result)
                    .isInstanceOfSatisfying(
                            LockStorageException.class,
                            failure -> assertThat(failure.failure()).isEqualTo(LockStorageException.Failure.IN_DOUBT));
            assertThat(granted).isTrue();
            network.heal();
            Awaitility.await().atMost(LIMIT).ignoreExceptions().until(waiter::tryAcquire);
            assertThat(waiter.key().token()).isNotEqualTo(token);
        }
    }

    /** The place is deleted, and the hold is put. */
    static boolean isGrantInLine(TxnResponse answer) {
        return answer.getSucceeded()
                && answer.getResponsesCount() == 2
                && answer.getResponses(0).hasResponseDeleteRange()
                && answer.getResponses(1).hasResponsePut();
    }

    @Test
    void givenWaiting_whenTheHistoryIsCompacted_thenItGetsItAtTheRelease() throws Exception {
        try (LockFactory locks = byProxy();
                LockFactory holders = direct()) {
            Lock holder = holders.createLock("report", LONG_TTL);
            assertThat(holder.tryAcquire()).isTrue();
            BackgroundCall<Lock> waiting = BackgroundCall.start(locks.createLock("report", LONG_TTL)::acquire);
            awaitWatcher();
            proxy.cut();
            for (int i = 0; i < 10; i++) {
                Lock other = holders.createLock("other", LONG_TTL);
                assertThat(other.tryAcquire()).isTrue();
                assertThat(other.release()).isTrue();
            }
            compact();

            assertThat(holder.release()).isTrue();

            assertThat(waiting.result().isAcquired()).isTrue();
        }
    }

    /** Found by the end of a test class: the store was closed when the lease of its places was over. */
    @Test
    void givenThePlacesInLinesWereLost_whenClosed_thenNothingIsThrown() throws Exception {
        LockFactory locks = direct();
        assertThat(locks.createLock("report", LONG_TTL).tryAcquire()).isTrue();
        assertThat(locks.createLock("report", LONG_TTL).tryAcquire(Duration.ofMillis(10)))
                .isFalse();
        server.kill();
        server.restartEmpty();

        assertThatCode(locks::close).doesNotThrowAnyException();
    }

    /** What a server says to a watch that has not caught up before. */
    @Test
    void givenWaiting_whenTheServerEndsItsWatchSinceTheHistoryIsCompacted_thenItGetsItAtTheRelease() throws Exception {
        try (AnswerProxy answers = AnswerProxy.to(server.address());
                LockFactory locks = LockFactory.connect(PatientDsn.etcd(answers.dsn()));
                LockFactory holders = direct()) {
            Lock holder = holders.createLock("report", LONG_TTL);
            assertThat(holder.tryAcquire()).isTrue();
            AtomicBoolean isEnded = new AtomicBoolean();
            answers.<WatchResponse>change(
                    WatchGrpc.getWatchMethod(),
                    answer -> isEnded.compareAndSet(false, true)
                            ? answer.toBuilder()
                                    .setCanceled(true)
                                    .setCompactRevision(revision())
                                    .build()
                            : answer);
            BackgroundCall<Lock> waiting = BackgroundCall.start(locks.createLock("report", LONG_TTL)::acquire);
            Awaitility.await("another watch").atMost(LIMIT).until(() -> server.watchers() == 2);

            assertThat(holder.release()).isTrue();

            assertThat(waiting.result().isAcquired()).isTrue();
        }
    }

    @Test
    void givenTheAnswerToOneThatJoinsIsLost_whenItsPlaceHasEnded_thenTheOtherWaitersOfItsStoreAreInTheirPlaces()
            throws Exception {
        try (LockFactory locks = byProxy();
                LockFactory others = direct()) {
            Lock holder = others.createLock("report", LONG_TTL).acquire();
            others.createLock("other", LONG_TTL).acquire();
            BlockingQueue<String> served = new LinkedBlockingQueue<>();
            BackgroundCall<Boolean> first = serve("first", locks.createLock("report", LONG_TTL), served);
            Awaitility.await().atMost(LIMIT).until(() -> waiters("report") == 1);
            BackgroundCall<Boolean> second = serve("second", others.createLock("report", LONG_TTL), served);
            Awaitility.await().atMost(LIMIT).until(() -> waiters("report") == 2);
            var lost = proxy.loseReplyTo("latchkey/other/q/");

            assertThatThrownBy(locks.createLock("other", LONG_TTL)::acquire)
                    .isInstanceOfSatisfying(
                            LockStorageException.class,
                            failure -> assertThat(failure.failure()).isEqualTo(LockStorageException.Failure.IN_DOUBT));

            // It was there: the server has answered. On a busy machine it may have ended by now.
            assertThat(lost).isCompleted();
            Awaitility.await().atMost(LIMIT).until(() -> waiters("other") == 0);
            Awaitility.await().atMost(LIMIT).until(() -> waiters("report") == 2);
            assertThat(holder.release()).isTrue();
            assertThat(first.result() && second.result()).isTrue();
            assertThat(served).containsExactly("first", "second");
        }
    }

    private static BackgroundCall<Boolean> serve(String name, Lock lock, BlockingQueue<String> served) {
        return BackgroundCall.start(() -> {
            lock.acquire();
            served.add(name);
            return lock.release();
        });
    }

    private int waiters(String resource) {
        String range = "{\"key\":\"%s\",\"range_end\":\"%s\",\"count_only\":true}"
                .formatted(base64("latchkey/" + resource + "/q/"), base64("latchkey/" + resource + "/q0"));
        Matcher count = Pattern.compile("\"count\":\"([0-9]+)\"").matcher(server.call("kv/range", range));
        return count.find() ? Integer.parseInt(count.group(1)) : 0;
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    private void compact() {
        server.call("kv/compaction", "{\"revision\":\"" + revision() + "\",\"physical\":true}");
    }

    private long revision() {
        Matcher revision =
                Pattern.compile("\"revision\":\"([0-9]+)\"").matcher(server.call("kv/range", "{\"key\":\"eA==\"}"));
        return Optional.of(revision)
                .filter(Matcher::find)
                .map(found -> Long.parseLong(found.group(1)))
                .orElseThrow();
    }

    private void awaitWatcher() {
        Awaitility.await().atMost(LIMIT).until(() -> server.watchers() == 1);
    }
}
