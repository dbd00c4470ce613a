package dev.latchkey.servers;

import dev.latchkey.testkit.ServerAddress;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;

/** A Redis cluster of three masters, whose slots can be moved, and which can be given replicas. */
public final class RedisCluster implements AutoCloseable {

    private static final int MASTERS = 3;
    private static final int SLOTS = 16_384;
    private static final Duration LIMIT = TimeLimits.LIMIT;

    private final List<RedisServer> masters;
    private final List<RedisServer> replicas = new ArrayList<>();

    private RedisCluster(List<RedisServer> masters) {
        this.masters = masters;
    }

    /**
     * Starts the cluster.
     *
     * @return ready: every master says so
     */
    public static RedisCluster start() {
        List<ServerAddress> buses = new ArrayList<>();
        List<RedisServer> masters = new ArrayList<>();
        for (int i = 0; i < MASTERS; i++) {
            ServerAddress bus = ServerAddress.unused();
            buses.add(bus);
            masters.add(node(bus));
        }
        RedisCluster cluster = new RedisCluster(List.copyOf(masters));
        cluster.join(buses);
        return cluster;
    }

    private static RedisServer node(ServerAddress bus) {
        // Without a port of its own the bus takes the port plus 10000, which others may have.
        return RedisServer.start(
                "--cluster-enabled",
                "yes",
                "--cluster-port",
                Integer.toString(bus.port()),
                "--cluster-node-timeout",
                "2000",
                // A busy machine needs more than one election: by default a replica gives up for good after 30 s.
                "--cluster-replica-validity-factor",
                "0",
                "--cluster-announce-ip",
                "127.0.0.1",
                "--repl-diskless-sync-delay",
                "0");
    }

    private void join(List<ServerAddress> buses) {
        for (int i = 0; i < MASTERS; i++) {
            RedisServer master = masters.get(i);
            master.call("CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1));
            String first = Integer.toString(SLOTS * i / MASTERS);
            String last = Integer.toString(SLOTS * (i + 1) / MASTERS - 1);
            master.call("CLUSTER", "ADDSLOTSRANGE", first, last);
            meet(master, buses.get(i));
        }
        Awaitility.await("the cluster to be complete")
                .atMost(LIMIT)
                .until(() -> masters.stream().allMatch(RedisCluster::seesAll));
    }

    private void meet(RedisServer node, ServerAddress bus) {
        masters.get(0)
                .call(
                        "CLUSTER",
                        "MEET",
                        node.address().host(),
                        Integer.toString(node.address().port()),
                        Integer.toString(bus.port()));
    }

    /**
     * Starts a replica, which takes over when its master is gone.
     *
     * @param master one of {@link #masters()}
     * @return a server that is in step, and which all masters know
     */
    public RedisServer addReplicaOf(RedisServer master) {
        ServerAddress bus = ServerAddress.unused();
        RedisServer replica = node(bus);
        replicas.add(replica);
        String own = replica.text("CLUSTER", "MYID");
        String its = master.text("CLUSTER", "MYID");
        meet(replica, bus);
        Awaitility.await("the replica to know its master")
                .atMost(LIMIT)
                .until(() -> replica.text("CLUSTER", "NODES").contains(its)
                        && replica.text("CLUSTER", "INFO").contains("cluster_state:ok"));
        replica.call("CLUSTER", "REPLICATE", its);
        Awaitility.await("the replica to be in step and known")
                .atMost(LIMIT)
                .until(() -> replica.text("INFO", "replication").contains("master_link_status:up")
                        && masters.stream().allMatch(one -> isReplica(one, own)));
        return replica;
    }

    private static boolean isReplica(RedisServer master, String node) {
        return master.text("CLUSTER", "NODES")
                .lines()
                .anyMatch(line -> line.startsWith(node) && line.contains("slave"));
    }

    private static boolean seesAll(RedisServer master) {
        String info = master.text("CLUSTER", "INFO");
        return info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:" + MASTERS);
    }

    /**
     * Returns what a store connects to.
     *
     * @return for {@link dev.latchkey.LockFactory#connect(String)}
     */
    public String dsn() {
        return masters.stream()
                .map(master -> master.address().toString())
                .collect(Collectors.joining(",", "redis-cluster://", ""));
    }

    /**
     * Returns its masters.
     *
     * @return three
     */
    public List<RedisServer> masters() {
        return masters;
    }

    /**
     * Returns the master that has a key.
     *
     * @param key with its hash tag, if it has one
     * @return one of {@link #masters()}
     */
    public RedisServer masterOf(String key) {
        String slot = slotOf(key);
        return masters.stream()
                .filter(master -> owns(master, slot))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("slot " + slot + " belongs to nobody"));
    }

    private String slotOf(String key) {
        return masters.get(0).text("CLUSTER", "KEYSLOT", key);
    }

    private static boolean owns(RedisServer master, String slot) {
        String id = master.text("CLUSTER", "MYID");
        return master.text("CLUSTER", "NODES")
                .lines()
                .filter(line -> line.startsWith(id))
                .anyMatch(line -> holds(line, Long.parseLong(slot)));
    }

    private static boolean holds(String node, long slot) {
        String[] words = node.split(" ", -1);
        for (int i = 8; i < words.length; i++) {
            String[] range = words[i].split("-", -1);
            if (!words[i].startsWith("[")
                    && Long.parseLong(range[0]) <= slot
                    && slot <= Long.parseLong(range[range.length - 1])) {
                return true;
            }
        }
        return false;
    }

    /**
     * Moves the slot of a key to another master, with all keys in it, as {@code redis-cli --cluster reshard} does.
     *
     * @param key with its hash tag, if it has one
     * @param target one of {@link #masters()}
     */
    public void move(String key, RedisServer target) {
        beginMove(key, target);
        finishMove(key, target);
    }

    /**
     * Begins to move the slot of a key: its keys are there still, and absent ones are asked for at the target.
     *
     * @param key with its hash tag, if it has one
     * @param target one of {@link #masters()}
     */
    public void beginMove(String key, RedisServer target) {
        String slot = slotOf(key);
        RedisServer source = masterOf(key);
        target.call("CLUSTER", "SETSLOT", slot, "IMPORTING", source.text("CLUSTER", "MYID"));
        source.call("CLUSTER", "SETSLOT", slot, "MIGRATING", target.text("CLUSTER", "MYID"));
    }

    /**
     * Ends what {@link #beginMove} has begun.
     *
     * @param key the same
     * @param target the same
     */
    public void finishMove(String key, RedisServer target) {
        String slot = slotOf(key);
        RedisServer source = masterOf(key);
        while (source.call("CLUSTER", "GETKEYSINSLOT", slot, "100") instanceof List<?> keys && !keys.isEmpty()) {
            keys.forEach(name -> migrate(source, target, String.valueOf(name)));
        }
        String owner = target.text("CLUSTER", "MYID");
        target.call("CLUSTER", "SETSLOT", slot, "NODE", owner);
        masters.forEach(master -> master.call("CLUSTER", "SETSLOT", slot, "NODE", owner));
    }

    private static void migrate(RedisServer source, RedisServer target, String key) {
        source.call(
                "MIGRATE",
                target.address().host(),
                Integer.toString(target.address().port()),
                key,
                "0",
                "5000");
    }

    /** Ends all servers. */
    @Override
    public void close() {
        replicas.forEach(RedisServer::close);
        masters.forEach(RedisServer::close);
    }
}
