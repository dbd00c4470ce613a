package dev.latchkey.chaos;

import dev.latchkey.chaos.Guarantees.Bound;
import dev.latchkey.chaos.Guarantees.Effect;
import dev.latchkey.chaos.Guarantees.Fencing;
import dev.latchkey.chaos.Guarantees.Order;
import dev.latchkey.chaos.Guarantees.Servers;
import dev.latchkey.servers.RedisConnection;
import dev.latchkey.servers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Those of the {@link Stores} that have Redis servers. */
final class RedisStores {

    /** For so long nothing happens on a server when nobody is there any more. */
    private static final Duration STILLNESS = Duration.ofSeconds(1);

    private RedisStores() {}

    static StoreUnderTest redis() {
        Guarantees promise = new Guarantees(
                Bound.LEASE,
                Fencing.TOKENS,
                Map.of(FaultKind.FORGET, Effect.ENDS_HOLDS, FaultKind.EVICT, Effect.ENDS_HOLDS),
                Servers.ONE,
                Stores.TOLD,
                Order.OF_ARRIVAL,
                Stores.PATIENCE,
                "a server that comes back empty, or evicts keys, has forgotten its holds: they are judged until then; "
                        + Stores.TOKENS_GROW);
        RedisPair server = RedisPair.start();
        return new StoreUnderTest(
                promise,
                Stores.allFaults(FaultKind.RESTART, FaultKind.FORGET),
                Map.of(
                        FaultKind.FAILOVER,
                        server.failover(),
                        FaultKind.READONLY,
                        server.readOnly(),
                        FaultKind.EVICT,
                        server.eviction()),
                List.of(server),
                addresses -> "redis://" + addresses.get(0),
                () -> leftIn(server.connect()));
    }

    /**
     * Redis for {@code ./stress}, with observers, and with faults of messages and scripts. It does not fail over, since an observer
     * sees one server only.
     */
    static StoreUnderTest stressedRedis(long seed) {
        StoreUnderTest redis = redis();
        RedisPair server = (RedisPair) redis.servers().get(0);
        StoreUnderTest stressed = new StoreUnderTest(
                redis.promise(),
                RapidFaults.KINDS,
                Map.of(
                        FaultKind.FLUSH_SCRIPTS,
                        server.command("SCRIPT", "FLUSH"),
                        FaultKind.CUT_SUBSCRIBERS,
                        server.command("CLIENT", "KILL", "TYPE", "pubsub"),
                        FaultKind.CUT_CLIENTS,
                        server.command("CLIENT", "KILL", "TYPE", "normal")),
                redis.servers(),
                redis.dsn(),
                redis.leftovers());
        return stressed.observedBy(List.of(
                log -> new OrderWatch(server.address(), log),
                log -> new RefusalWatch(server.address(), log, seed),
                log -> new KeyWatch(server.address(), log)));
    }

    /** Redis with a defect: shows that the judge sees it. */
    static StoreUnderTest planted(Defect defect) {
        StoreUnderTest sound = redis();
        return new StoreUnderTest(
                sound.promise(),
                EnumSet.of(FaultKind.CUT, FaultKind.SLOW, FaultKind.FORGET),
                Map.of(),
                sound.servers(),
                addresses -> PlantedStore.dsn(defect, sound.dsn().apply(addresses)),
                sound.leftovers());
    }

    static StoreUnderTest combined() {
        List<RedisServer> members =
                IntStream.range(0, 3).mapToObj(number -> RedisPair.durable()).toList();
        return new StoreUnderTest(
                Stores.leases(Servers.QUORUM, Stores.POLLED, ""),
                Stores.allFaults(FaultKind.RESTART, FaultKind.PAUSE_MOST, FaultKind.RESTART_MOST),
                Map.of(),
                members,
                addresses -> "combined:consensus(redis://%s,redis://%s,redis://%s)".formatted(addresses.toArray()),
                () -> members.stream()
                        .flatMap(one -> leftIn(one.connect()).stream())
                        .toList());
    }

    private static List<String> leftIn(RedisConnection server) {
        List<String> left = new ArrayList<>();
        try (server) {
            addUnlessEmpty(left, "keys without a TTL: ", KeyWatch.withoutTtl(server));
            addUnlessEmpty(left, "queues: ", KeyWatch.queues(server));
            addUnlessEmpty(left, "still at work: ", scriptsRunBy(server));
        }
        return left;
    }

    private static void addUnlessEmpty(List<String> left, String what, String found) {
        if (!found.isEmpty()) {
            left.add(what + found);
        }
    }

    /** What the server executes for somebody, though nobody is there any more. */
    private static String scriptsRunBy(RedisConnection server) {
        server.call("CONFIG", "RESETSTAT");
        LockSupport.parkNanos(STILLNESS.toNanos());
        return server.text("INFO", "commandstats")
                .lines()
                .filter(line -> line.startsWith("cmdstat_evalsha:"))
                .collect(Collectors.joining(" "));
    }
}
