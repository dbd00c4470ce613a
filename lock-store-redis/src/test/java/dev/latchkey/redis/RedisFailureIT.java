package dev.latchkey.redis;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.Requests;
import dev.latchkey.testkit.TimeLimits;
import io.lettuce.core.RedisClient;
import io.lettuce.core.codec.StringCodec;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What happens when the server or the network is not as it should be. */
class RedisFailureIT extends WithAStore {

    private final String resource = UUID.randomUUID().toString();
    private final String state = "lock:{" + resource + "}";

    @AfterEach
    void giveMemory() {
        server.call("CONFIG", "SET", "maxmemory", "0");
    }

    @Test
    void givenAForeignText_whenAnythingIsDone_thenAFailureAndItStaysAsItIs() {
        server.call("SET", state, "not a lock", "PX", "100000");

        assertThatThrownBy(locks.createLock(resource)::tryAcquire)
                .isInstanceOf(LockStorageException.class)
                .hasMessageContaining("not a lock");
        assertThatThrownBy(() -> store.delete(Key.of(resource))).isInstanceOf(LockStorageException.class);
        assertThatThrownBy(() -> store.find(Key.of(resource))).isInstanceOf(LockStorageException.class);
        assertThatThrownBy(() -> store.holders(resource)).isInstanceOf(LockStorageException.class);
        assertThatThrownBy(() -> locks.createLock(resource).tryAcquire(Duration.ofSeconds(1)))
                .isInstanceOf(LockStorageException.class);

        assertThat(server.text("GET", state)).isEqualTo("not a lock");
        assertThat((Long) Objects.requireNonNull(server.call("PTTL", state))).isGreaterThan(90_000);
    }

    @Test
    void givenAForeignHash_whenAnythingIsDone_thenAFailureAndItStaysAsItIs() {
        server.call("HSET", state, "field", "value");

        assertThatThrownBy(locks.createLock(resource)::tryAcquire)
                .isInstanceOf(LockStorageException.class)
                .hasMessageContaining("not a lock");
        assertThatThrownBy(() -> store.delete(Key.of(resource))).isInstanceOf(LockStorageException.class);

        assertThat(server.text("HGET", state, "field")).isEqualTo("value");
    }

    @Test
    void givenScriptsAreFlushed_whenUsed_thenNobodyNotices() throws Exception {
        Lock lock = locks.createLock(resource, LONG_TTL);
        Lock next = locks.createLock(resource, LONG_TTL);
        flush();
        assertThat(lock.tryAcquire()).isTrue();
        flush();
        CompletableFuture<Lock> waiting = Background.acquire(next);
        awaitQueued(1);
        flush();
        lock.refresh();
        flush();
        assertThat(lock.isAcquired()).isTrue();
        flush();
        assertThat(locks.createLock(resource).tryAcquire(Duration.ofMillis(20))).isFalse();
        flush();
        assertThat(lock.release()).isTrue();
        assertThat(waiting.join().isAcquired()).isTrue();
    }

    @Test
    void givenTheServerIsOutOfMemory_whenReleased_thenItIs() {
        Lock exclusive = locks.createLock(resource, LONG_TTL);
        assertThat(exclusive.tryAcquire()).isTrue();
        Lock reader = locks.createLock(resource + "-shared", LONG_TTL);
        assertThat(reader.tryAcquireShared()).isTrue();
        server.call("CONFIG", "SET", "maxmemory", "1");

        assertThatThrownBy(locks.createLock(resource + "-new")::tryAcquire)
                .isInstanceOf(LockStorageException.class)
                .hasMessageContaining("out of memory");
        assertThat(exclusive.release()).isTrue();
        assertThat(reader.release()).isTrue();

        server.call("CONFIG", "SET", "maxmemory", "0");
        assertThat(locks.createLock(resource).tryAcquire()).isTrue();
        assertThat(locks.createLock(resource + "-shared").tryAcquire()).isTrue();
    }

    @Test
    void givenSomebodyWaitsAndTheServerIsOutOfMemory_whenReleased_thenItIsHandedOver() {
        assertThat(handedOverWithoutMemory().fencingToken()).isPresent();
    }

    /** Who waits looks every 5 s, which such a server refuses: on a busy machine, before it is granted anything. */
    private Lock handedOverWithoutMemory() {
        for (int i = 0; i < 3; i++) {
            String waitedFor = resource + "-waited" + i;
            Lock holder = locks.createLock(waitedFor, LONG_TTL);
            assertThat(holder.tryAcquire()).isTrue();
            long start = System.nanoTime();
            CompletableFuture<Lock> waiting = Background.acquire(locks.createLock(waitedFor, LONG_TTL));
            // Until then it polls, which is refused as well.
            Awaitility.await().until(() -> keys.listening().stream().anyMatch(waiter -> waiter.contains(waitedFor)));
            server.call("CONFIG", "SET", "maxmemory", "1");
            assertThat(holder.release()).isTrue();
            try {
                return waiting.join();
            } catch (CompletionException refused) {
                assertThat(refused).hasMessageContaining("out of memory");
                assertThat(Looks.since(start)).as("looks until then").isPositive();
                server.call("CONFIG", "SET", "maxmemory", "0");
            }
        }
        throw new AssertionError("refused each time");
    }

    @Test
    void givenEverythingIsReleased_whenLookedAt_thenEveryKeyHasATtl() throws Exception {
        Lock lock = locks.createLock(resource, LONG_TTL);
        assertThat(lock.tryAcquire()).isTrue();
        CompletableFuture<Lock> waiting = Background.acquire(locks.createLock(resource, LONG_TTL));
        awaitQueued(1);
        assertThat((Long) server.call("PTTL", state + ":q")).isPositive();
        assertThat((Long) server.call("PTTL", state)).isPositive();

        assertThat(lock.release()).isTrue();
        assertThat(waiting.join().release()).isTrue();

        assertThat((Long) server.call("EXISTS", state + ":q", state + ":h")).isZero();
        assertThat((Long) server.call("PTTL", state)).isPositive();
    }

    @Test
    void givenTheRetentionIsOver_whenLookedAt_thenNothingIsLeft() {
        RedisClient client = RedisClient.create(server.dsn());
        try (RedisStore forgetful = RedisStore.builder(client)
                .commandTimeout(TimeLimits.LIMIT)
                .retention(Duration.ofSeconds(1))
                .build()) {
            Lock released = new LockFactory(forgetful).createLock(resource, Duration.ofSeconds(1));
            Lock expiring = new LockFactory(forgetful).createLock(resource + "-shared", Duration.ofSeconds(1));
            // The lease may be over by the time of the answer, or of the release.
            Awaitility.await().atMost(TimeLimits.LIMIT).until(released::tryAcquire);
            boolean unused = released.release();
            Awaitility.await().atMost(TimeLimits.LIMIT).until(expiring::tryAcquireShared);

            Awaitility.await()
                    .atMost(TimeLimits.LIMIT)
                    .untilAsserted(() -> assertThat(server.call("KEYS", "lock:*" + resource + "*"))
                            .isEqualTo(List.of()));
        } finally {
            client.shutdown(0, 2, TimeUnit.SECONDS);
        }
    }

    @Test
    void givenTheReplyIsLost_whenReleased_thenAFailureAndNotThatItWasLost() {
        try (FaultProxy proxy = FaultProxy.to(server.address());
                RedisStore far = open(PatientDsn.redis("redis://" + proxy.address()))) {
            Lock lock = new LockFactory(far).createLock(resource, LONG_TTL);
            // So that the server knows the script.
            assertThat(lock.tryAcquire() && lock.release()).isTrue();
            assertThat(lock.tryAcquire()).isTrue();
            CompletableFuture<Void> lost = proxy.loseReplyTo(requestOf(Script.RELEASE));

            assertThatThrownBy(lock::release)
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("connection");

            assertThat(lost).isCompleted();
            assertThat(locks.createLock(resource).tryAcquire()).isTrue();
        }
    }

    @Test
    void givenTheReplyIsLost_whenAcquired_thenAskedAgainAfterTheReconnect() {
        try (FaultProxy proxy = FaultProxy.to(server.address());
                RedisStore far = open(PatientDsn.redis("redis://" + proxy.address()))) {
            LockFactory remote = new LockFactory(far);
            assertThat(remote.createLock(resource + "-first").tryAcquire()).isTrue();
            CompletableFuture<Void> lost = proxy.loseReplyTo(resource);
            Lock lock = remote.createLock(resource, LONG_TTL);

            assertThat(lock.tryAcquire()).isTrue();

            assertThat(lost).isCompleted();
            assertThat(lock.release()).isTrue();
        }
    }

    @Test
    void givenTheMessageIsLost_whenItsTurnCame_thenItFindsOutByItself() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server.address());
                RedisStore far = open(PatientDsn.redis("redis://" + proxy.address()))) {
            Lock holder = locks.createLock(resource, LONG_TTL);
            assertThat(holder.tryAcquire()).isTrue();
            CompletableFuture<Lock> waiting = Background.acquire(
                    new LockFactory(far).createLock(resource, TimeLimits.ttl(Duration.ofSeconds(8))));
            Awaitility.await()
                    .until(() -> new RedisKeys(server)
                            .listening().stream().anyMatch(waiter -> waiter.startsWith("lock:{" + resource + "}:q")));
            CompletableFuture<Void> dropped = proxy.dropMessage(" x ");

            assertThat(holder.release()).isTrue();

            assertThat(waiting.join().isAcquired()).isTrue();
            assertThat(dropped).succeedsWithin(TimeLimits.LIMIT);
        }
    }

    @Test
    void givenTheServerIsGone_whenUsed_thenAFailureThatNamesItAndNothingHangs() {
        RedisServer gone = RedisServer.start();
        try (RedisStore orphan = open(PatientDsn.redis(gone.dsn()))) {
            Lock lock = new LockFactory(orphan).createLock(resource);
            assertThat(lock.tryAcquire()).isTrue();
            gone.kill();

            assertThatThrownBy(lock::refresh)
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining(gone.address().toString());
        }
        gone.close();
    }

    @Test
    void givenTheStoreIsClosed_whenUsed_thenAFailureThatSaysSo() {
        RedisStore closed = open(server.dsn());
        closed.close();
        closed.close();

        assertThatThrownBy(() -> closed.find(Key.of(resource)))
                .isInstanceOf(LockStorageException.class)
                .hasMessageContaining("closed");
    }

    @Test
    void givenConnectionsOfTheCaller_whenTheStoreIsClosed_thenTheyStayOpen() throws Exception {
        RedisClient client = RedisClient.create(server.dsn());
        try (var commands = client.connect();
                var messages = client.connectPubSub(StringCodec.UTF8)) {
            RedisStore own = RedisStore.builder(commands, messages)
                    .keyPrefix("own:")
                    .retention(Duration.ofSeconds(30))
                    .commandTimeout(TimeLimits.LIMIT)
                    .build();
            Lock first = new LockFactory(own).createLock(resource, LONG_TTL).acquire();
            CompletableFuture<Lock> waiting = Background.acquire(new LockFactory(own).createLock(resource, LONG_TTL));
            Awaitility.await().until(() -> Objects.equals(server.call("ZCARD", "own:{" + resource + "}:q"), 1L));
            assertThat(first.release()).isTrue();
            assertThat(waiting.join().release()).isTrue();

            own.close();

            assertThat(commands.sync().ping()).isEqualTo("PONG");
            assertThat(messages.isOpen()).isTrue();
        } finally {
            client.shutdown(0, 2, TimeUnit.SECONDS);
        }
    }

    @Test
    void givenNoReplica_whenOneIsToAcknowledge_thenAFailureAndNothingIsHeld() {
        RedisClient client = RedisClient.create(server.dsn());
        try (RedisStore replicated = RedisStore.builder(client)
                .replicas(1, Duration.ofMillis(20))
                .commandTimeout(TimeLimits.LIMIT)
                .build()) {
            Lock lock = new LockFactory(replicated).createLock(resource);

            assertThatThrownBy(lock::tryAcquire)
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("0 of 1 replicas");

            assertThat(locks.createLock(resource).tryAcquire()).isTrue();
        } finally {
            client.shutdown(0, 2, TimeUnit.SECONDS);
        }
    }

    /** Its holder believes in the shared hold until it is told otherwise. */
    @Test
    void givenNoReplica_whenAPromotionIsNotAcknowledged_thenTheLeaseIsNotShorter() {
        Lock reader = locks.createLock(resource, LONG_TTL);
        assertThat(reader.tryAcquireShared()).isTrue();
        RedisClient client = RedisClient.create(server.dsn());
        try (RedisStore replicated = RedisStore.builder(client)
                .replicas(1, Duration.ofMillis(20))
                .commandTimeout(TimeLimits.LIMIT)
                .build()) {
            Lock promoted = new LockFactory(replicated).createLock(reader.transferKey(), Duration.ofSeconds(1));

            assertThatThrownBy(() -> promoted.acquire(Duration.ofSeconds(5))).isInstanceOf(LockStorageException.class);

            assertThat(replicated.holders(resource))
                    .singleElement()
                    .satisfies(holder ->
                            assertThat(holder.remaining().orElseThrow()).isGreaterThan(Duration.ofSeconds(10)));
        } finally {
            client.shutdown(0, 2, TimeUnit.SECONDS);
        }
    }

    @Test
    void givenWrongDsns_whenOpened_thenWhatWouldBeRightAndNoPassword() {
        for (String dsn : new String[] {
            "redis:",
            "redis://",
            "redis://u:s3cret@ho st",
            "redis-sentinel://u:s3cret@host",
            "redis://u:s3cret@host:port"
        }) {
            assertThatThrownBy(() -> new RedisStore.Provider().open(dsn))
                    .as(dsn)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("redis://")
                    .hasMessageNotContaining("s3cret")
                    .hasNoCause();
        }
        for (String dsn : new String[] {
            "redis://h?sentinel-password=s3cret",
            "redis-cluster://h?sentinel-password=s3cret",
            "redis-sentinel://h/0?sentinel-user=s3cret#m"
        }) {
            assertThatThrownBy(() -> new RedisStore.Provider().open(dsn))
                    .as(dsn)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("sentinel-password")
                    .hasMessageNotContaining("s3cret");
        }
        assertThatThrownBy(() -> new RedisStore.Provider().open("redis-sentinel://h/0?sentinel-password=s3cret%zz#m"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageNotContaining("s3cret")
                .hasNoCause();
        assertThatCode(() -> new RedisStore.Provider()
                        .open("valkey://h/3?prefix=a%3A")
                        .close())
                .doesNotThrowAnyException();
        assertThatThrownBy(() -> new RedisStore.Provider().open("redis://h?prefix=%7Ba"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("brace");
    }

    /** C9, C24: an option that is not known, or has no unit, would otherwise vanish or mean something else. */
    @ParameterizedTest
    @CsvSource({
        "redis://h?prefx=app:, prefx",
        "redis-cluster://h?hashtag=a, hashtag",
        "redis-sentinel://h/0?prefix=a:&quorum=2#m, quorum",
        "redis://h?timeout=5, ms",
        "redis://h?timeout=0s, ms",
        "redis://h?timeout, timeout",
        "redis://h?prefix=a:&prefix=b:, prefix",
        "redis://h?strict=yes, strict",
        "redis-cluster://h/3, databases",
        "redis-cluster://h?database=3, databases",
        "redis://h?database=abc, database",
        "redis://h?database=-1, database",
        "redis://h/1?database=2, database",
        "redis-sentinel://h/1?database=2#m, database",
        "redis://h#master, redis://",
        "redis://u:12?s3cret=34@h, redis://",
    })
    void givenAnOptionThatIsNotKnown_whenOpened_thenItIsNamedAndWhatIsKnown(String dsn, String named) {
        assertThatThrownBy(() -> new RedisStore.Provider().open(dsn))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(named)
                .hasMessageNotContaining("s3cret")
                .hasNoCause();
    }

    @Test
    void givenATimeoutWithItsUnit_whenTheServerIsFrozen_thenACallFailsWithinIt() {
        try (RedisServer frozen = RedisServer.start();
                RedisStore store = open(frozen.dsn() + "?timeout=250ms&clientName=locks")) {
            // A busy machine may take longer than the limit to connect.
            Awaitility.await()
                    .ignoreExceptionsInstanceOf(LockStorageException.class)
                    .until(() -> store.find(Key.of("warm-up")).isEmpty());
            frozen.freeze();

            assertThatThrownBy(() -> new LockFactory(store).createLock("r").tryAcquire())
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("PT0.25S");

            frozen.thaw();
        }
    }

    /** C25. */
    @Test
    void givenNoServer_whenAcquired_thenNothingWasSent() {
        try (RedisStore store = open("redis://127.0.0.1:1")) {
            assertThatThrownBy(() -> store.save(Requests.exclusive(Key.of("r"))))
                    .isInstanceOfSatisfying(
                            LockStorageException.class,
                            failure -> assertThat(failure.failure()).isEqualTo(LockStorageException.Failure.NOT_SENT));
        }
    }

    private static void flush() {
        server.call("SCRIPT", "FLUSH");
    }

    private void awaitQueued(long count) {
        Awaitility.await().until(() -> queued(resource) == count);
    }

    private static long queued(String name) {
        return (Long) Objects.requireNonNull(server.call("ZCARD", "lock:{" + name + "}:q"));
    }
}
