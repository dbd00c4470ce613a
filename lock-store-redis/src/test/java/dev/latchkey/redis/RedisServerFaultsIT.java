package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockLostException;
import dev.latchkey.LockStorageException;
import dev.latchkey.LossReason;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.servers.RedisConnection;
import dev.latchkey.servers.RedisRefusal;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The server dies, forgets, is full or slow. */
class RedisServerFaultsIT {

    /** Longer than any of these tests waits. */
    private static final Duration LONG_TTL = TimeLimits.LIMIT.multipliedBy(5);

    private static final Duration SHORT_TTL = TimeLimits.ttl(Duration.ofMillis(1_500));

    /** Of what has to be held still when the server is gone, also if the machine stands still before that. */
    private static final Duration HELD_TTL = TimeLimits.ttl(Duration.ofSeconds(5));

    /** Longer than the short one, and shorter than the patience of the store. */
    private static final Duration SLEEP = SHORT_TTL.plusSeconds(1);

    private static final String RESOURCE = "report";

    @SuppressWarnings("NullAway.Init") // Each test starts with start().
    private RedisServer server;

    @SuppressWarnings("NullAway.Init")
    private LockFactory locks;

    /** Kept open: what a connection takes must not be free again when the server is full. */
    private @Nullable RedisConnection filling;

    private Lock start(RedisServer started) {
        server = started;
        locks = LockFactory.connect(PatientDsn.redis(server.dsn()));
        Lock holder = locks.createLock(RESOURCE, LONG_TTL);
        assertThat(holder.tryAcquire()).isTrue();
        return holder;
    }

    private BackgroundCall<Lock> startWaiter() {
        BackgroundCall<Lock> waiting =
                BackgroundCall.start(() -> locks.createLock(RESOURCE, LONG_TTL).acquire());
        RedisKeys keys = new RedisKeys(server);
        Awaitility.await().until(() -> keys.listening().size() == 1);
        return waiting;
    }

    /** What the buffers of clients take may come free again meanwhile. */
    private void awaitFull() {
        Awaitility.await("a server without memory for another lock").untilAsserted(() -> {
            fill(50);
            assertThatThrownBy(
                            () -> locks.createLock("other" + System.nanoTime()).tryAcquire())
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("memory");
        });
    }

    /** Who waits asks again every 5 s, which a full server refuses: on a busy machine it may have done so before it is returned. */
    private BackgroundCall<Lock> waiterOfAFullServer() {
        for (int i = 0; i < 5; i++) {
            server.call("CONFIG", "SET", "maxmemory", "8mb");
            BackgroundCall<Lock> waiting = startWaiter();
            server.call("CONFIG", "SET", "maxmemory", "4mb");
            awaitFull();
            if (!waiting.isDone()) {
                return waiting;
            }
            assertThatThrownBy(waiting::result)
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("memory");
        }
        throw new AssertionError("nobody waits while the server is full");
    }

    private void awaitConnected() {
        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .ignoreException(LockStorageException.class)
                .until(() -> !locks.createLock("another").isAcquired());
    }

    @AfterEach
    void end() {
        locks.close();
        if (filling != null) {
            filling.close();
        }
        server.close();
    }

    @Test
    void givenServerWithItsData_whenKilledAndRestarted_thenHolderHoldsAndWaiterWaits() throws Exception {
        Lock holder = start(RedisServer.startDurable());
        long token = holder.fencingToken().orElseThrow();
        BackgroundCall<Lock> waiting = startWaiter();

        server.kill();
        server.restart();
        awaitConnected();

        assertThat(holder.isAcquired()).isTrue();
        assertThat(holder.refresh().fencingToken()).hasValue(token);
        assertThat(waiting.isDone()).isFalse();
        assertThat(holder.release()).isTrue();
        Lock next = waiting.result();
        long nextToken = next.fencingToken().orElseThrow();
        assertThat(nextToken).isGreaterThan(token);
        assertThat(next.release()).isTrue();
        new Aftermath(server, RESOURCE).check(nextToken, SHORT_TTL);
    }

    @Test
    void givenServerWithoutItsData_whenKilledAndRestarted_thenTheWaiterGetsItAndTheHolderIsTold() throws Exception {
        Lock holder = start(RedisServer.start());
        long token = holder.fencingToken().orElseThrow();
        BlockingQueue<LossReason> losses = new LinkedBlockingQueue<>();
        holder.onLost(losses::add);
        BackgroundCall<Lock> waiting = startWaiter();

        server.kill();
        server.restartEmpty();

        Lock next = waiting.result();
        long nextToken = next.fencingToken().orElseThrow();
        assertThat(nextToken).isGreaterThan(token);
        assertThatThrownBy(holder::refresh).isInstanceOf(LockLostException.class);
        assertThat(losses.poll(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo(LossReason.TAKEN_OVER);
        assertThat(holder.release()).isFalse();
        assertThat(next.isAcquired()).isTrue();
        assertThat(next.release()).isTrue();
        new Aftermath(server, RESOURCE).check(nextToken, SHORT_TTL);
    }

    @Test
    void givenServerIsGone_whenAsked_thenAStorageFailureAndTheLeaseEndsInTime() throws Exception {
        start(RedisServer.start()).release();
        BlockingQueue<LossReason> losses = new LinkedBlockingQueue<>();
        Lock renewed = locks.lock(RESOURCE)
                .ttl(HELD_TTL)
                .autoRefresh()
                .onLost(losses::add)
                .create();
        assertThat(renewed.tryAcquire()).isTrue();
        long token = renewed.fencingToken().orElseThrow();

        server.kill();

        assertThatThrownBy(() -> locks.createLock("other").tryAcquire()).isInstanceOf(LockStorageException.class);
        assertThat(losses.poll(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)).isEqualTo(LossReason.STORE_UNREACHABLE);
        assertThat(renewed.isExpired()).isTrue();
        server.restartEmpty();
        new Aftermath(server, RESOURCE).check(token, HELD_TTL);
    }

    @Test
    void givenServerIsFull_whenHeldLocksAreReleased_thenTheyComeFreeAndAreHandedOver() throws Exception {
        Lock holder = start(RedisServer.start("--maxmemory", "4mb", "--maxmemory-policy", "noeviction"));
        Lock alone = locks.createLock("alone", LONG_TTL);
        Lock reader = locks.createLock("read", LONG_TTL);
        assertThat(alone.tryAcquire()).isTrue();
        assertThat(reader.tryAcquireShared()).isTrue();
        long token = holder.fencingToken().orElseThrow();
        fill(10_000);
        BackgroundCall<Lock> waiting = waiterOfAFullServer();

        assertThat(alone.release()).isTrue();
        assertThat(reader.release()).isTrue();
        assertThat(holder.release()).isTrue();
        Lock next = waiting.result();
        assertThat(next.isAcquired()).isTrue();
        long nextToken = next.fencingToken().orElseThrow();
        assertThat(nextToken).isGreaterThan(token);
        assertThat(next.release()).isTrue();
        server.call("DEL", "filling");
        new Aftermath(server, RESOURCE).check(nextToken, SHORT_TTL);
    }

    private void fill(int bytes) {
        RedisConnection connection = filling == null ? server.connect() : filling;
        filling = connection;
        String block = "x".repeat(bytes);
        assertThatThrownBy(() -> {
                    for (int i = 0; i < 10_000; i++) {
                        connection.call("RPUSH", "filling", block);
                    }
                })
                .isInstanceOf(RedisRefusal.class)
                .hasMessageStartingWith("OOM");
    }

    @Test
    void givenScriptsAreFlushed_whenUsed_thenEveryOperationWorks() throws Exception {
        Lock holder = start(RedisServer.start());
        long token = holder.fencingToken().orElseThrow();
        BackgroundCall<Lock> waiting = startWaiter();

        server.call("SCRIPT", "FLUSH");
        assertThat(holder.isAcquired()).isTrue();
        server.call("SCRIPT", "FLUSH");
        holder.refresh();
        server.call("SCRIPT", "FLUSH");
        assertThat(locks.createLock(RESOURCE).tryAcquire()).isFalse();
        server.call("SCRIPT", "FLUSH");
        assertThat(locks.holders(RESOURCE)).hasSize(1);
        server.call("SCRIPT", "FLUSH");
        assertThat(locks.createLock(RESOURCE).tryAcquire(Duration.ofMillis(50))).isFalse();
        server.call("SCRIPT", "FLUSH");
        assertThat(holder.release()).isTrue();

        Lock next = waiting.result();
        long nextToken = next.fencingToken().orElseThrow();
        assertThat(nextToken).isGreaterThan(token);
        assertThat(next.release()).isTrue();
        new Aftermath(server, RESOURCE).check(nextToken, SHORT_TTL);
    }

    @Test
    void givenServerSleeps_whenALeaseEndsMeanwhile_thenItsHolderKnowsBeforeTheNextBegins() throws Exception {
        Lock holder = start(RedisServer.start("--enable-debug-command", "yes"));
        long before = holder.fencingToken().orElseThrow();
        assertThat(holder.release()).isTrue();
        // A machine that stands still may end the lease before the server sleeps. Its holder is to know all the same.
        Lock renewed = locks.lock(RESOURCE).ttl(SHORT_TTL).autoRefresh().create();
        assertThat(renewed.tryAcquire()).isTrue();
        long token = renewed.fencingToken().orElse(before);
        BackgroundCall<Boolean> waiting = BackgroundCall.start(() -> {
            Lock next = locks.createLock(RESOURCE, LONG_TTL).acquire();
            boolean known = renewed.isExpired();
            next.close();
            return known;
        });
        RedisKeys keys = new RedisKeys(server);
        Awaitility.await().until(() -> waiting.isDone() || keys.listening().size() == 1);

        server.call("DEBUG", "SLEEP", String.valueOf(SLEEP.toMillis() / 1_000.0));

        assertThat(waiting.result()).as("the holder knew").isTrue();
        new Aftermath(server, RESOURCE).check(token, SHORT_TTL);
    }

    @Test
    void givenServerIsSlow_whenItAnswersInTime_thenTheLockWorks() throws Exception {
        Lock holder = start(RedisServer.start("--enable-debug-command", "yes"));
        try (RedisConnection connection = server.connect()) {
            connection.sendOnly("DEBUG", "SLEEP", "1");

            assertThat(holder.release()).isTrue();
        }
        new Aftermath(server, RESOURCE).check(0, SHORT_TTL);
    }
}
