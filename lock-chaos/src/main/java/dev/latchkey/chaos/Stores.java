package dev.latchkey.chaos;

import dev.latchkey.LockFactory;
import dev.latchkey.chaos.Guarantees.Bound;
import dev.latchkey.chaos.Guarantees.Effect;
import dev.latchkey.chaos.Guarantees.Fencing;
import dev.latchkey.chaos.Guarantees.Order;
import dev.latchkey.chaos.Guarantees.Servers;
import dev.latchkey.servers.DynamoDbServer;
import dev.latchkey.servers.EtcdCluster;
import dev.latchkey.servers.EtcdServer;
import dev.latchkey.servers.MemcachedServer;
import dev.latchkey.servers.MongoDbServer;
import dev.latchkey.servers.ZooKeeperEnsemble;
import dev.latchkey.servers.ZooKeeperServer;
import dev.latchkey.spi.ListedResource;
import dev.latchkey.spi.ListingStore;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** The stores that can be tried, each with what its page in {@code docs/stores} says. */
final class Stores {

    /** Twice what it takes if all others are served first, and each lets the longest lease run out. */
    static final Duration PATIENCE = Workload.LONGEST_TTL.multipliedBy(2L * (2 * Trial.PLACES - 1));

    /** A store that tells who waits, or has a queue: what a busy machine takes, and much less than its waiters look again after. */
    static final Duration TOLD = Duration.ofSeconds(1);

    /** A store that is asked again and again, every second at the least often. */
    static final Duration POLLED = Duration.ofSeconds(3);

    /** As above, of stores whose leases end at whole seconds. */
    private static final Duration SLOWLY_POLLED = POLLED.plusSeconds(2);

    private static final Set<FaultKind> PROCESS_FAULTS =
            EnumSet.of(FaultKind.CRASH, FaultKind.FREEZE, FaultKind.SUSPEND);

    /** Those of any server behind a network. */
    private static final Set<FaultKind> SERVER_FAULTS = EnumSet.of(
            FaultKind.CUT,
            FaultKind.REFUSE,
            FaultKind.SILENCE,
            FaultKind.MUTE,
            FaultKind.SLOW,
            FaultKind.LOST_REPLY,
            FaultKind.PAUSE);

    private static final String SHORT_SESSIONS = "?sessionTimeout=2s";
    static final String TOKENS_GROW = "tokens grow all the same";

    private Stores() {}

    /** All that are tried when none is named; each is given a directory for files of its own. */
    static Map<String, Function<Path, StoreUnderTest>> all() {
        Map<String, Function<Path, StoreUnderTest>> all = new LinkedHashMap<>();
        all.put("flock", Stores::flock);
        all.put("redis", unused -> RedisStores.redis());
        all.put("jdbc", unused -> SqlStores.jdbc());
        all.put("postgres-advisory", unused -> SqlStores.postgresAdvisory());
        all.put("mysql", unused -> SqlStores.getLock());
        all.put("zookeeper", unused -> zooKeeper());
        all.put("zookeeper-ensemble", unused -> zooKeeperEnsemble());
        all.put("etcd", unused -> etcd());
        all.put("etcd-cluster", unused -> etcdCluster());
        all.put("dynamodb", unused -> dynamoDb());
        all.put("memcached", unused -> memcached());
        all.put("mongodb", unused -> mongoDb());
        all.put("combined", unused -> RedisStores.combined());
        return all;
    }

    static Set<FaultKind> allFaults(FaultKind... more) {
        Set<FaultKind> all = EnumSet.copyOf(PROCESS_FAULTS);
        all.addAll(SERVER_FAULTS);
        all.addAll(List.of(more));
        return all;
    }

    static Guarantees leases(Servers servers, Duration handoff, String words) {
        return new Guarantees(
                Bound.LEASE, Fencing.TOKENS, Map.of(), servers, handoff, Order.NONE, Guarantees.UNFAIR, words);
    }

    static StoreUnderTest flock(Path directory) {
        Guarantees promise = new Guarantees(
                Bound.PROCESS,
                Fencing.TOKENS,
                Map.of(),
                Servers.ONE,
                TOLD,
                Order.NONE,
                Guarantees.UNFAIR,
                "there are no leases: a hold ends with its process");
        return new StoreUnderTest(
                promise,
                PROCESS_FAULTS,
                Map.of(),
                List.of(),
                addresses -> "flock://" + directory.resolve("locks"),
                () -> List.of());
    }

    private static Guarantees sessions(Servers servers) {
        return new Guarantees(
                Bound.SESSION,
                Fencing.TOKENS,
                Map.of(),
                servers,
                TOLD,
                Order.OF_ARRIVAL,
                PATIENCE,
                "there are no leases: a hold ends with its session, of which the holder is told before");
    }

    private static StoreUnderTest zooKeeper() {
        ZooKeeperServer server = ZooKeeperServer.start();
        return new StoreUnderTest(
                sessions(Servers.ONE),
                allFaults(FaultKind.RESTART),
                Map.of(),
                List.of(server),
                addresses -> "zookeeper://" + addresses.get(0) + SHORT_SESSIONS,
                () -> ephemerals(server));
    }

    private static StoreUnderTest zooKeeperEnsemble() {
        ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.start();
        return new StoreUnderTest(
                sessions(Servers.QUORUM),
                allFaults(FaultKind.RESTART, FaultKind.PAUSE_MOST, FaultKind.RESTART_MOST),
                Map.of(FaultKind.DEPOSE, new LeaderDeposition(ensemble::leader)),
                ensemble.servers(),
                addresses -> "zookeeper://%s,%s,%s".formatted(addresses.toArray()) + SHORT_SESSIONS,
                () -> ephemerals(ensemble.leader()));
    }

    private static List<String> ephemerals(ZooKeeperServer server) {
        return server.command("dump")
                .lines()
                .filter(line -> line.contains("/latchkey/"))
                .toList();
    }

    private static StoreUnderTest etcd() {
        EtcdServer server = EtcdServer.start();
        return new StoreUnderTest(
                etcdLeases(Servers.ONE),
                allFaults(FaultKind.RESTART),
                Map.of(),
                List.of(server),
                addresses -> "etcd://" + addresses.get(0),
                () -> etcdKeys(server));
    }

    private static StoreUnderTest etcdCluster() {
        EtcdCluster cluster = EtcdCluster.start();
        return new StoreUnderTest(
                etcdLeases(Servers.QUORUM),
                allFaults(FaultKind.RESTART, FaultKind.PAUSE_MOST, FaultKind.RESTART_MOST),
                Map.of(FaultKind.DEPOSE, new LeaderDeposition(cluster::leader)),
                cluster.servers(),
                addresses -> "etcd://%s,%s,%s".formatted(addresses.toArray()),
                () -> etcdKeys(cluster.leader()));
    }

    private static Guarantees etcdLeases(Servers servers) {
        return new Guarantees(
                Bound.LEASE, Fencing.TOKENS, Map.of(), servers, SLOWLY_POLLED, Order.OF_ARRIVAL, PATIENCE, "");
    }

    /** What is below the root of all locks: keys of holders and of those who wait. */
    private static List<String> etcdKeys(EtcdServer server) {
        String all = server.call(
                "kv/range", "{\"key\":\"bGF0Y2hrZXkv\",\"range_end\":\"bGF0Y2hrZXkw\",\"count_only\":true}");
        return all.contains("\"count\"") ? List.of("keys: " + all) : List.of();
    }

    private static StoreUnderTest dynamoDb() {
        DynamoDbServer server = DynamoDbServer.start();
        return new StoreUnderTest(
                leases(
                        Servers.ONE,
                        POLLED.plus(Workload.LONGEST_TTL),
                        "a waiter replaces a dead holder when it has watched it for its lease; dynalite stands in for DynamoDB"),
                allFaults(FaultKind.RESTART),
                Map.of(),
                List.of(server),
                addresses -> DynamoDbServer.dsn(addresses.get(0).toString()),
                () -> heldItems(server));
    }

    /** What the store lists: a new one, to which nobody is dead yet. */
    private static List<String> heldItems(DynamoDbServer server) {
        try (LockFactory locks = LockFactory.connect(server.dsn())) {
            return locks.list("", Optional.empty(), ListingStore.MAX_PAGE).resources().stream()
                    .map(ListedResource::toString)
                    .toList();
        }
    }

    private static StoreUnderTest memcached() {
        Guarantees promise = new Guarantees(
                Bound.LEASE,
                Fencing.NONE,
                Map.of(FaultKind.FORGET, Effect.ENDS_HOLDS, FaultKind.PAUSE, Effect.SPOILS_CALLS),
                Servers.ONE,
                SLOWLY_POLLED,
                Order.NONE,
                Guarantees.UNFAIR,
                "a server that was killed has forgotten its holds: they are judged until then; what it was asked for while"
                        + " it was stopped may end early: such holds are not judged from the stop on; there are no"
                        + " fencing tokens: writes of holders whose lease is over are not refused");
        MemcachedServer server = MemcachedServer.start();
        return new StoreUnderTest(
                promise,
                allFaults(FaultKind.FORGET),
                Map.of(),
                List.of(server),
                addresses -> "memcached://" + addresses.get(0),
                () -> List.of());
    }

    private static StoreUnderTest mongoDb() {
        // No restart: the embedded server has no disk, and takes its data with it; MongoDB does not.
        MongoDbServer server = MongoDbServer.start();
        return new StoreUnderTest(
                leases(
                        Servers.ONE,
                        POLLED,
                        "the embedded server may stand in for MongoDB; it is never killed, since it keeps nothing on a disk"),
                allFaults(),
                Map.of(),
                List.of(server),
                addresses -> MongoDbServer.dsn(addresses.get(0), "chaos"),
                () -> List.of());
    }
}
