package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The connection is cut in the middle of each operation, before or after the server has done it. */
@Timeout(120)
class RedisConnectionFaultsIT {

    /** What the client cannot tell apart. */
    enum Cut {
        BEFORE_THE_SERVER_SAW_IT,
        AFTER_THE_SERVER_DID_IT;

        CompletableFuture<Void> next(FaultProxy proxy) {
            return this == BEFORE_THE_SERVER_SAW_IT ? proxy.loseRequest(STATE) : proxy.loseReplyTo(STATE);
        }
    }

    private static final Duration LONG_TTL = Duration.ofSeconds(60);
    private static final Duration SHORT_TTL = Duration.ofMillis(1_500);
    private static final String RESOURCE = "report";
    private static final String STATE = "lock:{" + RESOURCE + "}";
    private static final String CHANNEL = "lock:in:";

    private static RedisServer server;

    private FaultProxy proxy;
    private LockFactory locks;
    private LockFactory rivals;

    @BeforeAll
    static void startServer() {
        server = RedisServer.start();
    }

    @AfterAll
    static void endServer() {
        server.close();
    }

    @BeforeEach
    void connect() {
        server.call("FLUSHALL");
        proxy = FaultProxy.to(server.address());
        locks = LockFactory.connect("redis://" + proxy.address());
        rivals = LockFactory.connect(server.dsn());
        assertThat(locks.createLock("warm-up").tryAcquire()).isTrue();
    }

    @AfterEach
    void end() {
        proxy.heal();
        locks.close();
        rivals.close();
        proxy.close();
    }

    private Lock held(Duration ttl) {
        Lock lock = locks.createLock(RESOURCE, ttl);
        assertThat(lock.tryAcquire()).isTrue();
        return lock;
    }

    private BackgroundCall<Lock> startWaiter(LockFactory from) {
        BackgroundCall<Lock> waiting =
                BackgroundCall.start(() -> from.createLock(RESOURCE, SHORT_TTL).acquire());
        RedisKeys keys = new RedisKeys(server);
        Awaitility.await().until(() -> keys.waiting().size() == 1);
        return waiting;
    }

    private void checkAftermath(long lastToken) throws InterruptedException {
        // Only locks of this resource count.
        server.call("DEL", "lock:{warm-up}");
        new Aftermath(server, RESOURCE).check(lastToken, SHORT_TTL);
    }

    @ParameterizedTest
    @EnumSource
    void givenCutWhileTrying_whenAnswered_thenTheAnswerIsTrue(Cut cut) throws Exception {
        CompletableFuture<Void> happened = cut.next(proxy);
        Lock lock = locks.createLock(RESOURCE, SHORT_TTL);
        boolean acquired;
        try {
            acquired = lock.tryAcquire();
        } catch (LockStorageException inDoubt) {
            acquired = false;
        }

        assertThat(happened).isCompleted();
        assertThat(lock.remainingLifetime().orElseThrow().isZero()).isNotEqualTo(acquired);
        if (acquired) {
            assertThat(rivals.createLock(RESOURCE).tryAcquire()).isFalse();
            assertThat(lock.release()).isTrue();
        }
        checkAftermath(0);
    }

    @ParameterizedTest
    @EnumSource
    void givenCutWhileWaiting_whenTheHolderReleases_thenTheWaiterGetsIt(Cut cut) throws Exception {
        Lock holder = rivals.createLock(RESOURCE, LONG_TTL);
        assertThat(holder.tryAcquire()).isTrue();
        CompletableFuture<Void> happened = cut.next(proxy);
        BackgroundCall<Lock> waiting = startWaiter(locks);
        assertThat(happened).isCompleted();

        assertThat(holder.release()).isTrue();

        Lock next = waiting.result();
        long token = next.fencingToken().orElseThrow();
        assertThat(next.release()).isTrue();
        checkAftermath(token);
    }

    @ParameterizedTest
    @EnumSource
    void givenCutWhileReleasing_whenItReturns_thenNothingIsHeldByItAnyMore(Cut cut) throws Exception {
        Lock lock = held(SHORT_TTL);
        long token = lock.fencingToken().orElseThrow();
        CompletableFuture<Void> happened = cut.next(proxy);

        try {
            var unused = lock.release();
        } catch (LockStorageException inDoubt) {
            assertThat(inDoubt.resource()).isEqualTo(RESOURCE);
        }

        assertThat(happened).isCompleted();
        assertThat(lock.remainingLifetime()).hasValue(Duration.ZERO);
        checkAftermath(token);
    }

    @ParameterizedTest
    @EnumSource
    void givenCutWhileHandingOver_whenItReturns_thenTheWaiterHasIt(Cut cut) throws Exception {
        Lock lock = held(SHORT_TTL);
        BackgroundCall<Lock> waiting = startWaiter(rivals);
        CompletableFuture<Void> happened = cut.next(proxy);

        try {
            var unused = lock.release();
        } catch (LockStorageException inDoubt) {
            assertThat(inDoubt.resource()).isEqualTo(RESOURCE);
        }

        assertThat(happened).isCompleted();
        Lock next = waiting.result();
        long token = next.fencingToken().orElseThrow();
        assertThat(next.release()).isTrue();
        checkAftermath(token);
    }

    @ParameterizedTest
    @EnumSource
    void givenCutWhileRefreshing_whenRefreshedAgain_thenItIsTheSameHold(Cut cut) throws Exception {
        Lock lock = held(LONG_TTL);
        long token = lock.fencingToken().orElseThrow();
        CompletableFuture<Void> happened = cut.next(proxy);

        try {
            lock.refresh();
        } catch (LockStorageException inDoubt) {
            assertThat(lock.isExpired()).isFalse();
        }

        assertThat(happened).isCompleted();
        Awaitility.await()
                .ignoreException(LockStorageException.class)
                .untilAsserted(() -> assertThat(lock.refresh().fencingToken()).hasValue(token));
        assertThat(rivals.createLock(RESOURCE).tryAcquire()).isFalse();
        assertThat(lock.release()).isTrue();
        checkAftermath(token);
    }

    @Test
    void givenTheGrantIsLost_whenTheWaiterLooks_thenItHasIt() throws Exception {
        Lock holder = rivals.createLock(RESOURCE, LONG_TTL);
        assertThat(holder.tryAcquire()).isTrue();
        BackgroundCall<Lock> waiting = startWaiter(locks);
        CompletableFuture<Void> lost = proxy.dropMessage(CHANNEL);

        assertThat(holder.release()).isTrue();

        assertThat(lost).succeedsWithin(Duration.ofSeconds(5));
        Lock next = waiting.result();
        long token = next.fencingToken().orElseThrow();
        assertThat(next.isAcquired()).isTrue();
        assertThat(next.release()).isTrue();
        checkAftermath(token);
    }

    @Test
    void givenTheSubscriptionIsCutAtTheGrant_whenTheWaiterIsBack_thenItHasIt() throws Exception {
        Lock holder = rivals.createLock(RESOURCE, LONG_TTL);
        assertThat(holder.tryAcquire()).isTrue();
        BackgroundCall<Lock> waiting = startWaiter(locks);
        CompletableFuture<Void> cut = proxy.cutAtMessage(CHANNEL);

        assertThat(holder.release()).isTrue();

        assertThat(cut).succeedsWithin(Duration.ofSeconds(5));
        Lock next = waiting.result();
        long token = next.fencingToken().orElseThrow();
        assertThat(next.release()).isTrue();
        checkAftermath(token);
    }

    @Test
    void givenAllConnectionsOfAWaiterAreCut_whenItIsBack_thenItHasItsPlaceAndWaitsForTheMessage() throws Exception {
        Lock holder = rivals.createLock(RESOURCE, LONG_TTL);
        assertThat(holder.tryAcquire()).isTrue();
        BackgroundCall<Lock> first = startWaiter(locks);
        BackgroundCall<Lock> second = BackgroundCall.start(
                () -> rivals.createLock(RESOURCE, SHORT_TTL).acquire());
        RedisKeys keys = new RedisKeys(server);
        Awaitility.await().until(() -> keys.waiting().size() == 2);

        proxy.cut();
        Awaitility.await().until(() -> proxy.connections() == 2);
        // Back and subscribed: else the release would have to take it for dead.
        Awaitility.await().until(() -> subscribers() == 2);
        assertThat(holder.release()).isTrue();

        Lock next = first.result();
        assertThat(second.isDone()).isFalse();
        assertThat(next.release()).isTrue();
        Lock last = second.result();
        long token = last.fencingToken().orElseThrow();
        assertThat(last.release()).isTrue();
        checkAftermath(token);
    }

    private static long subscribers() {
        return server.call("PUBSUB", "CHANNELS", CHANNEL + "*") instanceof List<?> channels ? channels.size() : -1;
    }

    @Test
    void givenTheNetworkIsSilentBeyondTheLease_whenARivalGetsIt_thenTheHolderKnewBefore() throws Exception {
        BlockingQueue<LossReason> losses = new LinkedBlockingQueue<>();
        Lock renewed = locks.lock(RESOURCE)
                .ttl(SHORT_TTL)
                .autoRefresh()
                .onLost(losses::add)
                .create();
        assertThat(renewed.tryAcquire()).isTrue();
        long token = renewed.fencingToken().orElseThrow();

        proxy.silence();

        Lock rival = rivals.createLock(RESOURCE, LONG_TTL);
        assertThat(rival.tryAcquire(Duration.ofSeconds(20))).isTrue();
        assertThat(renewed.isExpired()).isTrue();
        assertThat(losses.poll(10, TimeUnit.SECONDS)).isIn(LossReason.STORE_UNREACHABLE, LossReason.EXPIRED);
        proxy.heal();
        assertThat(rival.fencingToken().orElseThrow()).isGreaterThan(token);
        Awaitility.await().ignoreException(LockStorageException.class).until(() -> !renewed.isAcquired());
        assertThat(rival.isAcquired()).isTrue();
        assertThat(rival.release()).isTrue();
        checkAftermath(token);
    }

    @Test
    void givenReleaseFails_whenTheNetworkIsBack_thenNothingIsRenewedAnyMore() throws Exception {
        Lock renewed = locks.lock(RESOURCE).ttl(SHORT_TTL).autoRefresh().create();
        assertThat(renewed.tryAcquire()).isTrue();
        long token = renewed.fencingToken().orElseThrow();
        proxy.refuse();

        assertThatThrownBy(renewed::release).isInstanceOf(LockStorageException.class);

        proxy.heal();
        checkAftermath(token);
    }
}
