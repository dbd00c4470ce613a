package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.servers.RedisCluster;
import dev.latchkey.servers.RedisSentinel;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.Requests;
import dev.latchkey.testkit.TimeLimits;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Another server takes over: the replica of a sentinel's master, or the next owner of a cluster's slot. */
class RedisTopologyFaultsIT {

    /** Longer than any of these tests waits: another server may take its time to take over. */
    private static final Duration TTL = TimeLimits.LIMIT.multipliedBy(5);

    private static final Duration SHORT_TTL = TimeLimits.ttl(Duration.ofMillis(1_500));

    /** For an answer that comes when another server has taken over. */
    private static final Duration PATIENCE = TimeLimits.LIMIT.plus(TimeLimits.LIMIT.dividedBy(2));

    private static final String RESOURCE = "report";
    private static final String STATE = "lock:{" + RESOURCE + "}";

    private static BackgroundCall<Lock> startWaiter(LockFactory locks, RedisServer server) {
        BackgroundCall<Lock> waiting =
                BackgroundCall.start(() -> locks.createLock(RESOURCE, TTL).acquire());
        RedisKeys keys = new RedisKeys(server);
        Awaitility.await().until(() -> keys.listening().size() == 1);
        return waiting;
    }

    private static void assertTokenIsGreater(Lock next, long token) {
        assertThat(next.fencingToken().orElseThrow()).isGreaterThan(token);
    }

    @Test
    void givenReplicaIsInStep_whenTheMasterDies_thenHolderHoldsAndWaiterWaitsThere() throws Exception {
        try (RedisSentinel sentinel = RedisSentinel.start();
                LockFactory locks = LockFactory.connect(PatientDsn.redis(sentinel.dsn()))) {
            Lock holder = locks.createLock(RESOURCE, TTL);
            assertThat(holder.tryAcquire()).isTrue();
            long token = holder.fencingToken().orElseThrow();
            BackgroundCall<Lock> waiting = startWaiter(locks, sentinel.master());
            sentinel.awaitInStep();

            sentinel.master().kill();
            sentinel.awaitFailover();

            Awaitility.await()
                    .atMost(TimeLimits.LIMIT)
                    .ignoreException(LockStorageException.class)
                    .until(holder::isAcquired);
            assertThat(holder.fencingToken()).hasValue(token);
            assertThat(locks.createLock(RESOURCE).tryAcquire()).isFalse();
            assertThat(waiting.isDone()).isFalse();
            assertThat(holder.release()).isTrue();
            Lock next = waiting.result();
            long nextToken = next.fencingToken().orElseThrow();
            assertThat(nextToken).isGreaterThan(token);
            assertThat(next.release()).isTrue();
            new Aftermath(sentinel.replica(), RESOURCE).check(nextToken, SHORT_TTL);
        }
    }

    @Test
    void givenReplicaHeardNothing_whenTheMasterDies_thenTheTokenGrowsAllTheSame() throws Exception {
        try (RedisSentinel sentinel = RedisSentinel.start();
                LockFactory locks = LockFactory.connect(PatientDsn.redis(sentinel.dsn()))) {
            sentinel.replica().freeze();
            assertThat(sentinel.master().text("CLIENT", "KILL", "TYPE", "replica"))
                    .isEqualTo("1");
            Lock holder = locks.createLock(RESOURCE, TTL);
            assertThat(holder.tryAcquire()).isTrue();
            long token = holder.fencingToken().orElseThrow();
            sentinel.master().kill();
            sentinel.replica().thaw();
            sentinel.awaitFailover();

            Lock next = locks.createLock(RESOURCE, TTL);
            Awaitility.await()
                    .atMost(TimeLimits.LIMIT)
                    .ignoreException(LockStorageException.class)
                    .until(next::tryAcquire);

            assertTokenIsGreater(next, token);
            assertThat(holder.isAcquired()).isFalse();
            assertThat(next.release()).isTrue();
            new Aftermath(sentinel.replica(), RESOURCE).assertNothingGoesOn(SHORT_TTL);
        }
    }

    @Test
    void givenOneReplica_whenTwoAreToAcknowledge_thenAFailureAndNothingIsHeld() {
        try (RedisSentinel servers = RedisSentinel.start();
                LockFactory locks = LockFactory.connect(PatientDsn.redis(servers.dsn()))) {
            RedisClient client = RedisClient.create(servers.master().dsn());
            try (RedisStore careful = RedisStore.builder(client)
                    .replicas(2, Duration.ofMillis(200))
                    .commandTimeout(TimeLimits.LIMIT)
                    .build()) {
                Lock lock = new LockFactory(careful).createLock(RESOURCE);

                // Until the replica has caught up, it acknowledges nothing in time.
                Awaitility.await()
                        .atMost(TimeLimits.LIMIT)
                        .untilAsserted(() -> assertThatThrownBy(lock::tryAcquire)
                                .isInstanceOf(LockStorageException.class)
                                .hasMessageContaining("1 of 2 replicas"));

                assertThat(locks.createLock(RESOURCE).tryAcquire()).isTrue();
            } finally {
                client.shutdown();
            }
        }
    }

    @Test
    void givenAWaiter_whenTheSlotIsMoved_thenItGetsTheLockFromTheNewOwner() throws Exception {
        try (RedisCluster cluster = RedisCluster.start();
                LockFactory locks = LockFactory.connect(PatientDsn.redis(cluster.dsn()))) {
            RedisServer source = cluster.masterOf(STATE);
            RedisServer target = other(cluster, source);
            Lock holder = locks.createLock(RESOURCE, TTL);
            assertThat(holder.tryAcquire()).isTrue();
            long token = holder.fencingToken().orElseThrow();
            BackgroundCall<Lock> waiting = startWaiter(locks, source);

            cluster.move(STATE, target);

            assertThat(holder.isAcquired()).isTrue();
            assertThat(waiting.isDone()).isFalse();
            assertThat(holder.release()).isTrue();
            Lock next = waiting.result();
            assertTokenIsGreater(next, token);
            assertThat(next.release()).isTrue();
            assertThat(locks.createLock(RESOURCE).tryAcquire()).isTrue();
            assertThat(new RedisKeys(target).held()).hasSize(1);
            assertThat(new RedisKeys(target).withoutTtl()).isEmpty();
            // The owner name of the store may be there, which is in another slot.
            assertThat(new RedisKeys(source).all())
                    .filteredOn(key -> key.startsWith(STATE))
                    .isEmpty();
        }
    }

    /** B2: looks are five seconds apart, and the first that failed ended the wait. */
    @Test
    void givenAWaiter_whenItsSlotIsNotServedForAMoment_thenItGoesOnWaiting() throws Exception {
        // Shorter than the time between two looks: else the first that fails would not have ended the wait.
        try (RedisCluster cluster = RedisCluster.start();
                LockFactory locks = LockFactory.connect(cluster.dsn() + "?timeout=4500ms")) {
            cluster.masters().forEach(master -> master.call("CONFIG", "SET", "cluster-require-full-coverage", "no"));
            RedisServer source = cluster.masterOf(STATE);
            String slot = source.text("CLUSTER", "KEYSLOT", STATE);
            Lock holder = locks.createLock(RESOURCE, TTL);
            assertThat(holder.tryAcquire()).isTrue();
            BackgroundCall<Lock> waiting = startWaiter(locks, source);

            source.call("CLUSTER", "DELSLOTS", slot);
            Awaitility.await("a look that is refused")
                    .atMost(TimeLimits.LIMIT)
                    .pollInterval(Duration.ofMillis(20))
                    .until(() -> source.text("INFO", "commandstats")
                            .lines()
                            .anyMatch(line ->
                                    line.startsWith("cmdstat_evalsha:") && !line.contains(",rejected_calls=0,")));
            source.call("CLUSTER", "ADDSLOTS", slot);

            assertThat(holder.release()).isTrue();
            assertThat(waiting.result().release()).isTrue();
        }
    }

    /** B2: as between the death of a master and the election of the next. */
    @Test
    void givenSlotsAreNotServedForAMoment_whenUsed_thenEveryCallIsAnsweredWhenItIsOver() throws Exception {
        try (RedisCluster cluster = RedisCluster.start();
                RedisStore store = (RedisStore)
                        new RedisStore.Provider().open(cluster.dsn() + "?timeout=" + PATIENCE.toSeconds() + "s")) {
            cluster.masters().forEach(master -> master.call("CONFIG", "SET", "cluster-require-full-coverage", "no"));
            Key renewed = Key.of("renewed");
            Key released = Key.of("released");
            Requests.granted(store.save(Requests.exclusive(renewed)));
            Requests.granted(store.save(Requests.exclusive(released)));
            Map<String, RedisServer> owners = Stream.of("lock:{taken}", "lock:{renewed}", "lock:{released}")
                    .collect(Collectors.toMap(state -> state, cluster::masterOf));
            owners.forEach((state, owner) -> changeSlot(owner, "DELSLOTS", state));

            BackgroundCall<Response> taking =
                    BackgroundCall.start(() -> store.save(Requests.exclusive(Key.of("taken"))));
            BackgroundCall<Response> renewing = BackgroundCall.start(() -> store.refresh(Requests.exclusive(renewed)));
            BackgroundCall<Boolean> releasing = BackgroundCall.start(() -> store.delete(released));
            Awaitility.await("all are refused, and ask again")
                    .atMost(TimeLimits.LIMIT)
                    .until(() -> refusals(cluster) >= 9);
            owners.forEach((state, owner) -> changeSlot(owner, "ADDSLOTS", state));

            Requests.granted(taking.result());
            Requests.granted(renewing.result());
            assertThat(releasing.result()).isTrue();
        }
    }

    private static void changeSlot(RedisServer owner, String change, String state) {
        owner.call("CLUSTER", change, owner.text("CLUSTER", "KEYSLOT", state));
    }

    private static long refusals(RedisCluster cluster) {
        return cluster.masters().stream()
                .flatMap(master -> master.text("INFO", "errorstats").lines())
                .filter(line -> line.startsWith("errorstat_CLUSTERDOWN:count="))
                .mapToLong(line -> Long.parseLong(line.substring(line.indexOf('=') + 1)))
                .sum();
    }

    @Test
    void givenTheSlotIsBeingMoved_whenLocksAreUsed_thenTheyWorkBeforeAndAfter() throws Exception {
        try (RedisCluster cluster = RedisCluster.start();
                LockFactory locks = LockFactory.connect(PatientDsn.redis(cluster.dsn()))) {
            RedisServer source = cluster.masterOf(STATE);
            RedisServer target = other(cluster, source);
            Lock holder = locks.createLock(RESOURCE, TTL);
            assertThat(holder.tryAcquire()).isTrue();
            long token = holder.fencingToken().orElseThrow();

            cluster.beginMove(STATE, target);

            assertThat(holder.isAcquired()).isTrue();
            assertThat(holder.refresh().fencingToken()).hasValue(token);
            assertThat(locks.createLock(RESOURCE).tryAcquire()).isFalse();
            BackgroundCall<Lock> waiting =
                    BackgroundCall.start(() -> locks.createLock(RESOURCE, TTL).acquire());
            waiting.awaitWaiting();
            cluster.finishMove(STATE, target);
            assertThat(holder.release()).isTrue();
            Lock next = waiting.result();
            assertTokenIsGreater(next, token);
            assertThat(next.release()).isTrue();
        }
    }

    /** A shard's messages go to its replicas as well, where nobody counts who hears them. */
    @Test
    void givenAWaiterListensAtAReplica_whenItIsTakenForDead_thenItReadsOfNoGrant() throws Exception {
        try (RedisCluster cluster = RedisCluster.start();
                LockFactory locks = LockFactory.connect(PatientDsn.redis(cluster.dsn()))) {
            RedisServer master = cluster.masterOf(STATE);
            RedisServer replica = cluster.addReplicaOf(master);
            Lock holder = locks.createLock(RESOURCE, TTL);
            assertThat(holder.tryAcquire()).isTrue();
            RedisClient client = RedisClient.create(replica.dsn());
            BlockingQueue<String> heard = new LinkedBlockingQueue<>();
            try (StatefulRedisPubSubConnection<String, String> messages = client.connectPubSub()) {
                messages.addListener(new RedisPubSubAdapter<>() {
                    @Override
                    public void smessage(String channel, String message) {
                        heard.add(message);
                    }
                });
                messages.sync().ssubscribe(STATE + ":in:misled");
                String script = new String(Script.ACQUIRE.source(), StandardCharsets.UTF_8);
                String[] waiting = {"token", "60000", "660000", "misled.1", "x", "- 5000 0 2 e"};
                Object queued = master.call(Stream.concat(Stream.of("EVAL", script, "1", STATE), Stream.of(waiting))
                        .toArray(String[]::new));
                assertThat(queued).asInstanceOf(InstanceOfAssertFactories.LIST).startsWith(0L);

                assertThat(holder.release()).isTrue();

                assertThat(locks.createLock(RESOURCE).tryAcquire()).isTrue();
                assertThat(master.call("SPUBLISH", STATE + ":in:misled", "the last"))
                        .isEqualTo(0L);
                List<String> all = new ArrayList<>();
                for (String one = heard.take(); !one.equals("the last"); one = heard.take()) {
                    all.add(one);
                }
                assertThat(all).containsExactly("misled.1 .", "misled.1 ?");
            } finally {
                client.shutdown();
            }
        }
    }

    /** Of a client that hears of the change, and is patient enough. */
    @Test
    void givenAWaiter_whenTheReplicaTakesOver_thenItListensThereAndGetsTheLock() throws Exception {
        try (RedisCluster cluster = RedisCluster.start()) {
            RedisClusterClient client = patientClient(cluster);
            try (RedisStore store =
                    RedisStore.builder(client).commandTimeout(PATIENCE).build()) {
                takeOver(cluster, new LockFactory(store));
            } finally {
                client.shutdown();
            }
        }
    }

    private static void takeOver(RedisCluster cluster, LockFactory locks) throws Exception {
        RedisServer master = cluster.masterOf(STATE);
        RedisServer replica = cluster.addReplicaOf(master);
        Lock holder = locks.createLock(RESOURCE, TTL);
        assertThat(holder.tryAcquire()).isTrue();
        BackgroundCall<Lock> waiting = startWaiter(locks, master);
        Replication.awaitInStep(master, replica);

        master.kill();

        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .until(() ->
                        replica.call("PUBSUB", "SHARDCHANNELS") instanceof List<?> channels && !channels.isEmpty());
        long token = holder.fencingToken().orElseThrow();
        assertThat(holder.release()).isTrue();
        Lock next = waiting.result();
        assertTokenIsGreater(next, token);
        assertThat(next.release()).isTrue();
    }

    private static RedisClusterClient patientClient(RedisCluster cluster) {
        RedisURI address = RedisURI.create(cluster.masters().get(0).dsn());
        // What was sent to the dead master is asked again by then.
        address.setTimeout(TimeLimits.scaled(Duration.ofSeconds(2)));
        RedisClusterClient client = RedisClusterClient.create(address);
        client.setOptions(ClusterClientOptions.builder()
                .topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
                        .enablePeriodicRefresh(Duration.ofSeconds(1))
                        .build())
                .build());
        return client;
    }

    /** What a waiter was told must be written, whatever of its resource is not there any more. */
    @Test
    void givenAReaderWaits_whenHandedOverWhileTheSlotMoves_thenItHoldsWhatItWasTold() throws Exception {
        try (RedisCluster cluster = RedisCluster.start();
                LockFactory locks = LockFactory.connect(PatientDsn.redis(cluster.dsn()));
                LockFactory others = LockFactory.connect(PatientDsn.redis(cluster.dsn()))) {
            RedisServer source = cluster.masterOf(STATE);
            RedisServer target = other(cluster, source);
            Lock writer = locks.createLock(RESOURCE, TTL);
            assertThat(writer.tryAcquire()).isTrue();
            BackgroundCall<Lock> reading =
                    BackgroundCall.start(() -> others.createLock(RESOURCE, TTL).acquireShared());
            RedisKeys keys = new RedisKeys(source);
            Awaitility.await().until(() -> keys.listening().size() == 1);
            cluster.beginMove(STATE, target);

            assertThat(writer.release()).isTrue();

            Lock reader = reading.result();
            assertThat(reader.isAcquired()).isTrue();
            cluster.finishMove(STATE, target);
            assertThat(writer.tryAcquire()).isFalse();
            assertThat(reader.release()).isTrue();
        }
    }

    private static RedisServer other(RedisCluster cluster, RedisServer source) {
        return cluster.masters().stream()
                .filter(master -> master != source)
                .findFirst()
                .orElseThrow();
    }
}
