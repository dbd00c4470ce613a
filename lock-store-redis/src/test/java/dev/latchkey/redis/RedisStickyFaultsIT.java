package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.LIST;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.RemoteLock;
import dev.latchkey.testkit.SecondProcess;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What becomes of a sticky lock whose recall goes wrong, or whose process does. */
class RedisStickyFaultsIT extends BehindAProxy {

    private static final Duration STICKY = TimeLimits.LIMIT.multipliedBy(2);

    private static Lock sticky(LockFactory factory) {
        return factory.lock(RESOURCE).ttl(LONG_TTL).sticky(STICKY).create();
    }

    /** Acquires and releases until it is kept, as nothing is before the store hears messages; returns the token of that hold. */
    private long kept(Lock lock) {
        return Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .until(() -> cycle(lock), unused -> !rivals.holders(RESOURCE).isEmpty());
    }

    private static long cycle(Lock lock) {
        assertThat(lock.tryAcquire()).isTrue();
        long token = lock.fencingToken().orElseThrow();
        assertThat(lock.release()).isTrue();
        return token;
    }

    /** Returns the channel of the only store that listens. */
    private static String inbox() {
        Object found = server.call("PUBSUB", "CHANNELS", CHANNEL + "*");
        assertThat(found).asInstanceOf(LIST).hasSize(1);
        return found instanceof List<?> channels ? String.valueOf(channels.get(0)) : "";
    }

    private static void publishRecall(String inbox) {
        server.call("PUBLISH", inbox, inbox.substring(CHANNEL.length()) + ".0 ~ " + STATE);
    }

    /** A waiter asks again by itself, and the recall is sent again. */
    @Test
    void givenKept_whenTheRecallIsLost_thenTheNextOneIsHeard() throws Exception {
        long token = kept(sticky(locks));
        CompletableFuture<Void> dropped = proxy.dropMessage(".0 ~ ");
        // It asks again after a third of that.
        Lock rival = rivals.createLock(RESOURCE, TimeLimits.ttl(Duration.ofSeconds(4)));

        assertThat(rival.tryAcquire(TimeLimits.LIMIT)).isTrue();

        assertThat(dropped).isCompleted();
        assertThat(rival.fencingToken().orElseThrow()).isGreaterThan(token);
        assertThat(rival.release()).isTrue();
        checkAftermath(rival.fencingToken().orElse(token));
    }

    @Test
    void givenKept_whenTheRecallIsLate_thenWhoTriesIsRefusedAndWhoWaitsIsNot() throws Exception {
        long token = kept(sticky(locks));
        assertThat(rivals.createLock("warm-up").tryAcquire(Duration.ofMillis(1)))
                .isFalse();
        proxy.silence();
        Lock rival = rivals.createLock(RESOURCE, LONG_TTL);

        assertThat(rival.tryAcquire()).isFalse();
        proxy.heal();
        assertThat(rival.tryAcquire(TimeLimits.LIMIT)).isTrue();

        assertThat(rival.fencingToken().orElseThrow()).isGreaterThan(token);
        assertThat(rival.release()).isTrue();
        checkAftermath(token);
    }

    @Test
    void givenInUse_whenTheRecallIsDoubled_thenItIsHeldUntilTheReleaseWhichIsReal() throws Exception {
        Lock lock = sticky(locks);
        long token = kept(lock);
        assertThat(lock.tryAcquire()).isTrue();
        long again = lock.fencingToken().orElseThrow();
        assertThat(again).isGreaterThan(token);
        String inbox = inbox();
        Lock rival = rivals.createLock(RESOURCE, LONG_TTL);
        BackgroundCall<Boolean> wait = BackgroundCall.start(() -> rival.tryAcquire(TimeLimits.LIMIT));
        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .until(() -> new RedisKeys(server).waiting().size() == 1);
        publishRecall(inbox);
        publishRecall(inbox);

        assertThat(lock.isAcquired()).isTrue();
        assertThat(wait.isDone()).isFalse();
        assertThat(lock.release()).isTrue();

        assertThat(wait.result()).isTrue();
        assertThat(rival.fencingToken().orElseThrow()).isGreaterThan(again);
        assertThat(rival.release()).isTrue();
        checkAftermath(again);
    }

    /** It is a hint: it costs a request, and nothing else. */
    @Test
    void givenKept_whenRecalledForNobody_thenItIsGivenBackAndAcquiredAnew() throws Exception {
        Lock lock = sticky(locks);
        long token = kept(lock);

        publishRecall(inbox());

        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .until(() -> locks.holders(RESOURCE).isEmpty());
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(lock.fencingToken().orElseThrow()).isGreaterThan(token);
        assertThat(lock.release()).isTrue();
        checkAftermath(token);
    }

    /** No recall can be heard meanwhile, so what is kept is given back. */
    @Test
    void givenKept_whenTheConnectionsAreCut_thenItIsGivenBack() throws Exception {
        Lock lock = sticky(locks);
        long token = kept(lock);

        proxy.cut();

        // Not by the end of its lease.
        Awaitility.await().atMost(LONG_TTL).until(() -> rivals.holders(RESOURCE).isEmpty());
        checkAftermath(token);
    }

    /** As where all connections break, for which it is given back: whoever notices that by one sends it by another. */
    @Test
    void givenKept_whenTheConnectionBreaksAsItIsGivenBack_thenItIsGivenBackAllTheSame() throws Exception {
        long token = kept(sticky(locks));
        CompletableFuture<Void> lost = proxy.loseRequest(STATE);

        publishRecall(inbox());

        // Not by the end of its lease.
        Awaitility.await().atMost(LONG_TTL).until(() -> rivals.holders(RESOURCE).isEmpty());
        assertThat(lost).isCompleted();
        checkAftermath(token);
    }

    @Test
    void givenForcedWhileKept_whenAcquiredHere_thenTheTokenIsGreaterThanThatOfTheRivalBetween() throws Exception {
        Lock lock = sticky(locks);
        long token = kept(lock);
        long used = kept(lock);
        long shown = rivals.holders(RESOURCE).get(0).fencingToken().orElseThrow();

        assertThat(rivals.forceRelease(RESOURCE, shown)).isTrue();

        Lock rival = rivals.createLock(RESOURCE, LONG_TTL);
        assertThat(rival.tryAcquire()).isTrue();
        assertThat(rival.fencingToken().orElseThrow()).isGreaterThan(used).isGreaterThan(token);
        // The first call may believe the hold to be kept, the second one learn that it was lost.
        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .ignoreException(LockLostException.class)
                .until(() -> !lock.tryAcquire());
        assertThat(rival.release()).isTrue();
        Awaitility.await().atMost(TimeLimits.LIMIT).until(lock::tryAcquire);
        long last = lock.fencingToken().orElseThrow();
        assertThat(last).isGreaterThan(used);
        lock.release();
        checkAftermath(last);
    }

    @Test
    void givenKept_whenTheServerHasLostItsData_thenItIsNotHeldHereAnyMore() throws Exception {
        try (RedisServer own = RedisServer.start();
                LockFactory here = LockFactory.connect(PatientDsn.redis(own.dsn()));
                LockFactory there = LockFactory.connect(PatientDsn.redis(own.dsn()))) {
            Lock lock = sticky(here);
            long token = cycle(lock);

            own.kill();
            own.restartEmpty();

            Lock rival = there.createLock(RESOURCE, LONG_TTL);
            assertThat(rival.tryAcquire(TimeLimits.LIMIT)).isTrue();
            assertThat(rival.fencingToken().orElseThrow()).isGreaterThan(token);
            assertThat(lock.tryAcquire()).isFalse();
            assertThat(rival.release()).isTrue();
        }
    }

    /** Besides what the contract checks. */
    @Test
    void givenKept_whenTheProcessIsKilled_thenNothingIsLeftWithoutATtl() throws Exception {
        // Five requests of a JVM that has just begun have to fit into it.
        Duration ttl = TimeLimits.ttl(Duration.ofSeconds(8));
        try (SecondProcess holding = SecondProcess.connect(PatientDsn.redis(server.dsn()))) {
            long used = kept(holding.stickyLock(RESOURCE, ttl, ttl));
            holding.kill();
            Lock rival = rivals.createLock(RESOURCE, LONG_TTL);

            assertThat(rival.tryAcquire(ttl.multipliedBy(2).plus(TimeLimits.LIMIT)))
                    .isTrue();

            assertThat(rival.fencingToken().orElseThrow()).isGreaterThan(used);
            assertThat(rival.release()).isTrue();
            checkAftermath(used);
        }
    }

    private static long kept(RemoteLock lock) {
        assertThat(lock.tryAcquire()).isTrue();
        assertThat(lock.release()).isTrue();
        assertThat(lock.tryAcquire()).isTrue();
        long token = lock.fencingToken().orElseThrow();
        assertThat(lock.release()).isTrue();
        return token;
    }
}
