package dev.latchkey.chaos;

import dev.latchkey.chaos.Guarantees.Bound;
import dev.latchkey.chaos.Guarantees.Effect;
import dev.latchkey.chaos.Guarantees.Fencing;
import dev.latchkey.chaos.Guarantees.Order;
import dev.latchkey.chaos.Guarantees.Servers;
import dev.latchkey.servers.MariaDbServer;
import dev.latchkey.servers.MemcachedServer;
import dev.latchkey.servers.MongoDbServer;
import dev.latchkey.servers.PostgresServer;
import dev.latchkey.servers.ZooKeeperEnsemble;
import dev.latchkey.servers.ZooKeeperServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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

    /** As above, of a store whose leases end at whole seconds. */
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

    private static final String SHORT_SESSIONS = "?sessionTimeout=2000";
    static final String TOKENS_GROW = "tokens grow all the same";

    private Stores() {}

    /** All that are tried when none is named; each is given a directory for files of its own. */
    static Map<String, Function<Path, StoreUnderTest>> all() {
        Map<String, Function<Path, StoreUnderTest>> all = new LinkedHashMap<>();
        all.put("flock", Stores::flock);
        all.put("redis", unused -> RedisStores.redis());
        all.put("jdbc", unused -> jdbc());
        all.put("postgres-advisory", unused -> postgresAdvisory());
        all.put("mysql", unused -> getLock());
        all.put("zookeeper", unused -> zooKeeper());
        all.put("zookeeper-ensemble", unused -> zooKeeperEnsemble());
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

    private static StoreUnderTest jdbc() {
        PostgresServer server = PostgresServer.start();
        String held = "SELECT count(*) FROM latchkey_lock WHERE greatest(expires_at, readers_until)"
                + " > extract(epoch FROM clock_timestamp()) * 1000000 AND (token <> '-' OR readers <> '')";
        return new StoreUnderTest(
                leases(Servers.ONE, TOLD, ""),
                allFaults(FaultKind.RESTART),
                Map.of(),
                List.of(server),
                addresses -> PostgresServer.dsn(addresses.get(0)),
                () -> count(server::connect, "rows that are held", held));
    }

    private static StoreUnderTest postgresAdvisory() {
        Guarantees promise = new Guarantees(
                Bound.SESSION,
                Fencing.TOKENS,
                Map.of(
                        FaultKind.CUT,
                        Effect.ENDS_HOLDS,
                        FaultKind.REFUSE,
                        Effect.ENDS_HOLDS,
                        FaultKind.RESTART,
                        Effect.ENDS_HOLDS),
                Servers.ONE,
                TOLD,
                Order.NONE,
                PATIENCE,
                "a hold ends with its connection, before the holder can know: it is judged until then; " + TOKENS_GROW);
        Set<FaultKind> faults = allFaults(FaultKind.RESTART);
        // What it sends does not have the resource in it, but a number.
        faults.remove(FaultKind.LOST_REPLY);
        PostgresServer server = PostgresServer.start();
        return new StoreUnderTest(
                promise,
                faults,
                Map.of(),
                List.of(server),
                addresses -> PostgresServer.dsn(addresses.get(0)).replace("postgresql:", "postgresql+advisory:"),
                () -> count(
                        server::connect,
                        "advisory locks",
                        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"));
    }

    private static StoreUnderTest getLock() {
        Guarantees promise = new Guarantees(
                Bound.SESSION,
                Fencing.NONE,
                Map.of(
                        FaultKind.CUT,
                        Effect.ENDS_HOLDS,
                        FaultKind.REFUSE,
                        Effect.ENDS_HOLDS,
                        FaultKind.LOST_REPLY,
                        Effect.ENDS_HOLDS,
                        FaultKind.RESTART,
                        Effect.ENDS_HOLDS),
                Servers.ONE,
                TOLD,
                Order.NONE,
                PATIENCE,
                "a hold ends with its connection, before the holder can know: it is judged until then; there are no"
                        + " fencing tokens: writes of holders whose connection is gone are not refused");
        MariaDbServer server = MariaDbServer.start("--plugin-load-add=metadata_lock_info");
        String held = "SELECT count(*) FROM information_schema.metadata_lock_info WHERE lock_type = 'User lock'";
        return new StoreUnderTest(
                promise,
                allFaults(FaultKind.RESTART),
                Map.of(),
                List.of(server),
                addresses -> "mariadb+getlock://root@" + addresses.get(0) + "/test?sslMode=disable",
                () -> count(
                        () -> DriverManager.getConnection(
                                "jdbc:mariadb://" + server.address() + "/test?user=root&sslMode=disable"),
                        "locks of GET_LOCK",
                        held));
    }

    /** What opens a connection to look for what is left. */
    @FunctionalInterface
    private interface Connecting {
        Connection connect() throws SQLException;
    }

    private static List<String> count(Connecting server, String what, String sql) {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1) == 0 ? List.of() : List.of(row.getLong(1) + " " + what);
        } catch (SQLException e) {
            throw new IllegalStateException("cannot look for what is left in the database", e);
        }
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
                Map.of(FaultKind.DEPOSE, new LeaderDeposition(ensemble)),
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
