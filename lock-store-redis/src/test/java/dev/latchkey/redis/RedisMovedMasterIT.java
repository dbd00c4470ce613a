package dev.latchkey.redis;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static dev.latchkey.testkit.Requests.shared;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.servers.RedisConnection;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.Fixture;
import dev.latchkey.testkit.TimeLimits;
import io.lettuce.core.RedisClient;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The master becomes a replica of its replica, and one address leads to whichever is the master. */
class RedisMovedMasterIT {

    private static final Duration TTL = Fixture.LONG_TTL;
    private static final Duration LIMIT = TimeLimits.LIMIT;
    private static final String RESOURCE = "report";
    private static final String STATE = "lock:{report}";

    private RedisServer first;
    private RedisServer second;
    private SwitchedAddress address;

    @BeforeEach
    void start() {
        first = RedisServer.start("--repl-diskless-sync-delay", "0");
        second = RedisServer.start(
                "--replicaof", "127.0.0.1", Integer.toString(first.address().port()));
        Awaitility.await()
                .atMost(LIMIT)
                .until(() -> second.text("INFO", "replication").contains("master_link_status:up"));
        address = new SwitchedAddress(first.address());
    }

    @AfterEach
    void end() {
        address.close();
        second.close();
        first.close();
    }

    private void failOver() {
        Replication.awaitInStep(first, second);
        second.call("REPLICAOF", "NO", "ONE");
        first.call("REPLICAOF", "127.0.0.1", Integer.toString(second.address().port()));
        Awaitility.await()
                .atMost(LIMIT)
                .until(() -> first.text("INFO", "replication").contains("master_link_status:up"));
        address.leadTo(second.address());
    }

    /** A1: what the server publishes reaches its replicas as well, where nobody counts who hears it. */
    @Test
    void givenAWaiterListensAtAReplica_whenItIsLeftOut_thenItReadsOfNoGrant() {
        try (RedisConnection listener = second.connect();
                RedisStore store = (RedisStore) new RedisStore.Provider().open(PatientDsn.redis(first.dsn()))) {
            listener.call("SUBSCRIBE", "lock:in:misled");
            Key holder = Key.of(RESOURCE);
            granted(store.save(exclusive(holder)));
            Object queued = acquire(first, "token", "misled.1", "- 5000 0 1 e");
            assertThat(Objects.requireNonNull(queued).toString()).startsWith("[0,");

            assertThat(store.delete(holder)).isTrue();

            granted(store.save(exclusive(Key.of(RESOURCE))));
            first.call("PUBLISH", "lock:in:misled", "the last");
            List<String> heard = new ArrayList<>();
            while (!heard.contains("the last")) {
                heard.add(String.valueOf(((List<?>) Objects.requireNonNull(listener.receive())).get(2)));
            }
            assertThat(heard).containsExactly("misled.1 ?", "the last");
        }
    }

    private static Object acquire(RedisServer server, String token, String attempt, String how) {
        String script = new String(Script.ACQUIRE.source(), StandardCharsets.UTF_8);
        return Objects.requireNonNull(
                server.call("EVAL", script, "1", STATE, token, "60000", "660000", attempt, "x", how));
    }

    /**
     * A1: who grants may be another server than the one that gave the place, with another clock, once a look has failed. The
     * message here is from nobody, and no hold stands behind it.
     */
    @Test
    void givenALookHasFailed_whenAMessageGrants_thenItIsAHintAlone() throws Exception {
        RedisClient client = RedisClient.create(first.dsn());
        try (var commands = client.connect();
                var messages = client.connectPubSub();
                RedisStore store = RedisStore.builder(commands, messages)
                        .commandTimeout(LIMIT)
                        .build();
                LockFactory rivals = LockFactory.connect(PatientDsn.redis(first.dsn()))) {
            Lock holder = rivals.createLock(RESOURCE, TTL);
            assertThat(holder.tryAcquire()).isTrue();
            RedisKeys keys = new RedisKeys(first);
            BackgroundCall<Response> waiting = BackgroundCall.start(
                    () -> store.waitAndSave(exclusive(Key.of(RESOURCE)), TTL, new CompletableFuture<>()));
            Awaitility.await().atMost(LIMIT).until(() -> keys.listening().size() == 1);
            String attempt = attempt(keys);
            String channel = channel(attempt);
            first.call("REPLICAOF", "127.0.0.1", "1");
            first.call("PUBLISH", channel, attempt + " ?");
            Awaitility.await().atMost(LIMIT).until(() -> refusals(first) >= 3);

            String at = (String) Objects.requireNonNull(first.call(
                    "EVAL", "local time = redis.call('TIME') return string.format('%s%06d', time[1], time[2])", "0"));
            for (int i = 0; i < 20; i++) {
                first.call("PUBLISH", channel, attempt + " x " + at + " 60000 1");
            }

            first.call("REPLICAOF", "NO", "ONE");
            assertThat(holder.release()).isTrue();
            assertThat(granted(waiting.result()).fencingToken().orElseThrow()).isGreaterThan(1);
        } finally {
            client.shutdown();
        }
    }

    /** Returns the name of the only wait. */
    private static String attempt(RedisKeys keys) {
        return keys.listening().get(0).split(" ", -1)[2];
    }

    private static String channel(String attempt) {
        return "lock:in:" + attempt.substring(0, attempt.indexOf('.'));
    }

    /** A1, B5: both connections stay where they were opened, and the one there is a replica now. */
    @Test
    void givenAWaiter_whenTheAddressLeadsToAnotherMaster_thenItListensThereAndGetsTheLock() throws Exception {
        try (LockFactory locks = LockFactory.connect(PatientDsn.redis(address.dsn()));
                LockFactory others = LockFactory.connect(PatientDsn.redis(address.dsn()))) {
            Lock holder = locks.createLock(RESOURCE, TTL);
            assertThat(holder.tryAcquire()).isTrue();
            BackgroundCall<Lock> waiting =
                    BackgroundCall.start(() -> others.createLock(RESOURCE, TTL).acquire());
            RedisKeys keys = new RedisKeys(first);
            Awaitility.await().atMost(LIMIT).until(() -> keys.listening().size() == 1);
            String channel = channel(attempt(keys));

            failOver();

            assertThat(holder.refresh().isAcquired()).isTrue();
            // The holder's store has subscribed as well.
            Awaitility.await().atMost(LIMIT).until(() -> channels(second, channel) == 1);
            assertThat(holder.release()).isTrue();
            Lock next = waiting.result();
            assertThat(next.isAcquired()).isTrue();
            assertThat(locks.createLock(RESOURCE).tryAcquire()).isFalse();
            assertThat(next.release()).isTrue();
        }
    }

    /** A1: only the connection of the commands is lost, as by the server's time limit, which spares those who listen. */
    @Test
    void givenAWaiter_whenOnlyItsCommandsMoveToAnotherMaster_thenItListensThereAsWell() throws Exception {
        try (LockFactory others = LockFactory.connect(PatientDsn.redis(address.dsn()));
                LockFactory locks = LockFactory.connect(PatientDsn.redis(first.dsn()))) {
            Lock holder = locks.createLock(RESOURCE, TTL);
            assertThat(holder.tryAcquire()).isTrue();
            BackgroundCall<Lock> waiting =
                    BackgroundCall.start(() -> others.createLock(RESOURCE, TTL).acquire());
            Awaitility.await()
                    .atMost(LIMIT)
                    .until(() -> new RedisKeys(first).listening().size() == 1);
            failOver();

            first.call("CLIENT", "KILL", "TYPE", "normal");

            Awaitility.await().atMost(LIMIT).until(() -> channels(second, "*") == 1);
            waiting.interrupt();
            assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);
        }
    }

    /** B5: a replica that must not answer with old data says so instead of that it is read-only. */
    @Test
    void givenTheOldMasterWaitsForItsMaster_whenTheAddressLeadsToAnother_thenThatIsAsked() {
        first.call("CONFIG", "SET", "replica-serve-stale-data", "no");
        try (LockFactory locks = LockFactory.connect(PatientDsn.redis(address.dsn()))) {
            Lock holder = locks.createLock(RESOURCE, TTL);
            assertThat(holder.tryAcquire()).isTrue();
            Replication.awaitInStep(first, second);

            second.call("REPLICAOF", "NO", "ONE");
            first.call("REPLICAOF", "127.0.0.1", "1");
            address.leadTo(second.address());

            assertThat(holder.refresh().isAcquired()).isTrue();
            assertThat(holder.release()).isTrue();
        }
    }

    /** B2: a server is a replica for a moment, as while a failover is called off. */
    @Test
    void givenReadOnlyForAMoment_whenUsed_thenEveryCallIsAnsweredWhenItIsOver() throws Exception {
        try (RedisStore store = (RedisStore) new RedisStore.Provider().open(address.dsn() + "?timeout=20s")) {
            Key renewed = Key.of("renewed");
            Key released = Key.of("released");
            granted(store.save(exclusive(renewed)));
            granted(store.save(exclusive(released)));
            first.call("REPLICAOF", "127.0.0.1", "1");

            BackgroundCall<Response> taking = BackgroundCall.start(() -> store.save(exclusive(Key.of("taken"))));
            BackgroundCall<Response> renewing = BackgroundCall.start(() -> store.refresh(exclusive(renewed)));
            BackgroundCall<Boolean> releasing = BackgroundCall.start(() -> store.delete(released));
            BackgroundCall<Response> waiting = BackgroundCall.start(() ->
                    store.waitAndSave(exclusive(Key.of("awaited")), Duration.ofMinutes(1), new CompletableFuture<>()));
            Awaitility.await("all are refused").atMost(LIMIT).until(() -> refusals(first) >= 8);
            first.call("REPLICAOF", "NO", "ONE");

            granted(taking.result());
            granted(renewing.result());
            assertThat(releasing.result()).isTrue();
            granted(waiting.result());
        }
    }

    /** B2: another connection takes the place of the one that leads to a replica, while its answers are under way. */
    @Test
    void givenReadOnlyAndSlow_whenManyRelease_thenEachIsAnsweredWhenItIsOver() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(first.address());
                RedisStore store = (RedisStore)
                        new RedisStore.Provider().open("redis://" + proxy.address() + "?timeout=20s&clientName=slow")) {
            List<Key> held = Stream.generate(() -> Key.of("slow")).limit(20).toList();
            held.forEach(key -> granted(store.save(shared(key))));
            List<String> before = clients(first, "slow");
            assertThat(before).hasSize(1);
            proxy.delay(Duration.ofMillis(50));
            first.call("REPLICAOF", "127.0.0.1", "1");

            List<BackgroundCall<Boolean>> releasing = held.stream()
                    .map(key -> BackgroundCall.start(() -> store.delete(key)))
                    .toList();
            Awaitility.await("the connection is replaced")
                    .atMost(LIMIT)
                    .until(() -> Collections.disjoint(clients(first, "slow"), before));
            first.call("REPLICAOF", "NO", "ONE");

            for (BackgroundCall<Boolean> one : releasing) {
                assertThat(one.result()).isTrue();
            }
        }
    }

    private static List<String> clients(RedisServer server, String name) {
        return server.text("CLIENT", "LIST")
                .lines()
                .filter(line -> line.contains(" name=" + name + " "))
                .map(line -> line.substring(0, line.indexOf(' ')))
                .toList();
    }

    /** An interrupted thread must not wait less between two attempts than any other: it would keep a processor and the server busy. */
    @Test
    void givenReadOnly_whenCalledWithTheInterruptFlag_thenItAsksAgainAtTheUsualPace() throws Exception {
        // A thread that stands still for seconds is refused more than once all the same.
        Duration timeout = TimeLimits.scaled(Duration.ofSeconds(3));
        try (RedisStore store =
                (RedisStore) new RedisStore.Provider().open(first.dsn() + "?timeout=" + timeout.toMillis() + "ms")) {
            Key key = Key.of(RESOURCE);
            granted(store.save(exclusive(key)));
            first.call("REPLICAOF", "127.0.0.1", "1");

            BackgroundCall<Boolean> refreshing = BackgroundCall.start(() -> {
                Thread.currentThread().interrupt();
                assertThatThrownBy(() -> store.refresh(exclusive(key))).isInstanceOf(LockStorageException.class);
                return Thread.currentThread().isInterrupted();
            });

            assertThat(refreshing.result()).isTrue();
            assertThat(refusals(first)).isBetween(2L, timeout.toMillis() / 20 + 1);
        }
    }

    private static long refusals(RedisServer server) {
        return server.text("INFO", "errorstats")
                .lines()
                .filter(line -> line.startsWith("errorstat_READONLY:count="))
                .mapToLong(line -> Long.parseLong(line.substring(line.indexOf('=') + 1)))
                .sum();
    }

    private static int channels(RedisServer server, String pattern) {
        return server.call("PUBSUB", "CHANNELS", pattern) instanceof List<?> all ? all.size() : 0;
    }

    /** B5: nobody resets a connection that a firewall has forgotten. */
    @Test
    void givenConnectionsAreForgotten_whenNothingIsAnsweredAgainAndAgain_thenOthersAreOpened() throws Exception {
        RedisClient client = RedisClient.create(address.dsn());
        try (RedisStore store = RedisStore.builder(client)
                        .commandTimeout(TimeLimits.scaled(Duration.ofMillis(500)))
                        .build();
                LockFactory locks = new LockFactory(store)) {
            // A machine that stands still may take longer than the limit.
            Awaitility.await()
                    .atMost(LIMIT)
                    .ignoreException(LockStorageException.class)
                    .until(() -> locks.createLock(RESOURCE).tryAcquire());

            address.forgetConnections();

            assertThatThrownBy(() -> locks.createLock("other").tryAcquire()).isInstanceOf(LockStorageException.class);
            Awaitility.await()
                    .atMost(LIMIT)
                    .ignoreException(LockStorageException.class)
                    .until(() -> locks.createLock("other").tryAcquire());
        } finally {
            client.shutdown();
        }
    }

    /** A2: on another connection WAIT counts the replicas that have what that one has written, which is nothing. */
    @Test
    void givenNoReplicaAnswers_whenTheConnectionIsLostWhileItIsWaitedFor_thenAFailure() {
        RedisClient client = RedisClient.create(first.dsn());
        try (RedisStore store = RedisStore.builder(client)
                .replicas(1, TimeLimits.scaled(Duration.ofSeconds(10)))
                .commandTimeout(TimeLimits.scaled(Duration.ofSeconds(20)))
                .build()) {
            granted(store.save(exclusive(Key.of("warm-up"))));
            second.freeze();
            BackgroundCall<Response> saving = BackgroundCall.start(() -> store.save(exclusive(Key.of(RESOURCE))));
            Awaitility.await()
                    .atMost(LIMIT)
                    .until(() -> first.text("INFO", "clients").contains("blocked_clients:1"));

            // Ended, not reset: then the driver sends again what was not answered.
            first.call("CLIENT", "KILL", "TYPE", "normal");

            assertThatThrownBy(saving::result)
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("was lost before");
        } finally {
            second.thaw();
            client.shutdown();
        }
    }
}
