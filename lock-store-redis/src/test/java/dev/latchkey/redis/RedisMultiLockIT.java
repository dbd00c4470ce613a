package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Several resources at once: what they cost, and what is left of them when the server or the way to it fails. */
class RedisMultiLockIT extends BehindAProxy {

    private static final List<String> RESOURCES = List.of("alpha", "beta", "gamma");

    @Test
    void givenNobodyElse_whenAcquiredRefreshedAndReleased_thenOneScriptToAcquireAndOneToRelease() {
        RedisKeys keys = new RedisKeys(server);
        // No store asks anything more by itself: one is closed, and the other has asked.
        locks.close();
        keys.subscribe(rivals.createLock("held for a while", LONG_TTL));
        Lock lock = rivals.all(RESOURCES).create();
        assertThat(lock.tryAcquire() && lock.release()).isTrue();
        keys.resetCommands();

        assertThat(lock.tryAcquire()).isTrue();
        assertThat(keys.commands()).containsEntry("evalsha", 1L);
        assertThat(lock.release()).isTrue();

        assertThat(keys.commands()).containsEntry("evalsha", 2L).doesNotContainKey("eval");
        assertThat(keys.held()).doesNotContain("lock:{alpha}", "lock:{beta}", "lock:{gamma}");
    }

    @Test
    void givenHeld_whenOthersLook_thenTheySeeWhoHoldsEach() {
        try (LockFactory named = LockFactory.builder(PatientDsn.redis(server.dsn()))
                .owner("transfer")
                .build()) {
            Lock lock = named.all(RESOURCES).create();
            assertThat(lock.tryAcquire()).isTrue();

            for (String resource : RESOURCES) {
                Awaitility.await()
                        .untilAsserted(() -> assertThat(rivals.holders(resource))
                                .singleElement()
                                .satisfies(holder ->
                                        assertThat(holder.description()).contains("transfer")));
            }
            assertThat(lock.release()).isTrue();
        }
    }

    @Test
    void givenTheReplyIsLost_whenAcquired_thenAskedAgainAndAllAreHeldOnce() throws Exception {
        Lock lock = locks.all(RESOURCES).ttl(LONG_TTL).create();
        CompletableFuture<Void> lost = proxy.loseReplyTo("beta");

        assertThat(lock.tryAcquire()).isTrue();

        assertThat(lost).isDone();
        assertThat(lock.fencingTokens()).containsOnlyKeys("alpha", "beta", "gamma");
        assertThat(rivals.all(RESOURCES).create().tryAcquire()).isFalse();
        assertThat(lock.release()).isTrue();
        assertThat(rivals.all(RESOURCES).create().tryAcquire()).isTrue();
    }

    @Test
    void givenTheNetworkIsSilent_whenAcquired_thenAFailureAndAllAreFreeInTheEnd() throws Exception {
        Lock warm = locks.all(RESOURCES).ttl(LONG_TTL).create();
        assertThat(warm.tryAcquire() && warm.release()).isTrue();
        Lock lock = locks.all(RESOURCES).ttl(SHORT_TTL).create();
        proxy.silence();

        assertThatThrownBy(lock::tryAcquire).isInstanceOf(LockStorageException.class);

        assertThat(lock.fencingTokens()).isEmpty();
        proxy.heal();
        assertThat(rivals.all(RESOURCES).create().tryAcquire(TimeLimits.LIMIT)).isTrue();
    }

    /** The part that was waited for is held by then. */
    @Test
    void givenTheReplyIsLostAfterTheWait_whenOneWasGranted_thenAskedAgainAndAllAreHeldOnce() throws Exception {
        Lock holder = rivals.createLock("beta", LONG_TTL);
        assertThat(holder.tryAcquire()).isTrue();
        Lock lock = locks.all(RESOURCES).ttl(LONG_TTL).create();
        BackgroundCall<Lock> waiting = BackgroundCall.start(lock::acquire);
        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .until(() -> rivals.waiters("beta").size() == 1);
        // Only the request for all of them names this one.
        CompletableFuture<Void> lost = proxy.loseReplyTo("alpha");

        assertThat(holder.release()).isTrue();

        assertThat(waiting.result().fencingTokens()).containsOnlyKeys("alpha", "beta", "gamma");
        assertThat(lost).isDone();
        assertThat(lock.release()).isTrue();
        assertThat(rivals.all(RESOURCES).create().tryAcquire()).isTrue();
    }

    @Test
    void givenTheServerIsGone_whenTheLeaseIsOver_thenTheHolderIsToldOnceAndAllAreFree() throws Exception {
        try (RedisServer durable = RedisServer.startDurable();
                LockFactory holders = LockFactory.connect(PatientDsn.redis(durable.dsn()))) {
            BlockingQueue<LossReason> losses = new LinkedBlockingQueue<>();
            Lock lock = holders.all(RESOURCES)
                    .ttl(HELD_TTL)
                    .autoRefresh()
                    .onLost(losses::add)
                    .create();
            assertThat(lock.tryAcquire()).isTrue();
            Map<String, Long> tokens = lock.fencingTokens();

            durable.kill();

            assertThat(losses.poll(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .isEqualTo(LossReason.STORE_UNREACHABLE);
            assertThat(lock.isExpired()).isTrue();
            durable.restart();
            try (LockFactory others = LockFactory.connect(PatientDsn.redis(durable.dsn()))) {
                Lock next = others.all(RESOURCES).create();
                Awaitility.await()
                        .atMost(TimeLimits.LIMIT)
                        .ignoreException(LockStorageException.class)
                        .until(next::tryAcquire);
                next.fencingTokens()
                        .forEach((resource, token) -> assertThat(token).isGreaterThan(tokens.get(resource)));
            }
            assertThat(losses).isEmpty();
        }
    }

    /** Nobody renews it, so that nothing but a message can tell. */
    @Test
    void givenOneIsForcedElsewhere_whenNobodyAsks_thenItsListenerHearsOfItOnce() throws Exception {
        BlockingQueue<LossReason> losses = new LinkedBlockingQueue<>();
        Lock lock = locks.all(RESOURCES).ttl(LONG_TTL).onLost(losses::add).create();
        assertThat(lock.tryAcquire()).isTrue();
        new RedisKeys(server).awaitSubscribed();

        long beta = Objects.requireNonNull(lock.fencingTokens().get("beta"));
        assertThat(rivals.forceRelease("beta", beta)).isTrue();

        assertThat(losses.poll(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo(LossReason.FORCED);
        assertThat(lock.isExpired()).isTrue();
        assertThat(lock.release()).isFalse();
        assertThat(losses).isEmpty();
        assertThat(rivals.all(RESOURCES).create().tryAcquire()).isTrue();
    }

    @Test
    void givenWaiting_whenTheServerIsGone_thenAFailureAndNothingIsHeld() throws Exception {
        try (RedisServer durable = RedisServer.startDurable();
                LockFactory others = LockFactory.connect(PatientDsn.redis(durable.dsn()))) {
            Lock holder = others.createLock("gamma", LONG_TTL);
            assertThat(holder.tryAcquire()).isTrue();
            BackgroundCall<Lock> waiting =
                    BackgroundCall.start(() -> others.all(RESOURCES).create().acquire());
            Awaitility.await()
                    .atMost(TimeLimits.LIMIT)
                    .ignoreException(LockStorageException.class)
                    .until(() -> others.waiters("gamma").size() == 1);

            durable.kill();

            assertThatThrownBy(waiting::result).isInstanceOf(LockStorageException.class);
            durable.restart();
            Lock rest = others.all(List.of("alpha", "beta")).create();
            Awaitility.await()
                    .atMost(TimeLimits.LIMIT)
                    .ignoreException(LockStorageException.class)
                    .until(rest::tryAcquire);
        }
    }
}
