package dev.latchkey.servers;

import dev.latchkey.testkit.ServerAddress;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;

/** Three etcd servers of this machine that are one, as long as two of them run. */
public final class EtcdCluster implements AutoCloseable {

    private static final int SERVERS = 3;
    private static final Duration LIMIT = TimeLimits.LIMIT;

    private final List<EtcdServer> servers = new ArrayList<>();
    private final PeerNetwork network = new PeerNetwork();

    private EtcdCluster() {}

    /**
     * Starts the cluster.
     *
     * @return ready: one leads, the others follow
     */
    public static EtcdCluster start() {
        return start((network, name, address) -> address.port());
    }

    /**
     * Starts the cluster so that {@link #cutOff(EtcdServer)} works.
     *
     * @return ready: one leads, the others follow
     */
    public static EtcdCluster startSeparable() {
        return start(PeerNetwork::add);
    }

    /** By which port other servers reach one. */
    private interface Way {

        int open(PeerNetwork network, String name, ServerAddress address);
    }

    private static EtcdCluster start(Way way) {
        EtcdCluster cluster = new EtcdCluster();
        try {
            cluster.startServers(way);
            cluster.awaitAll();
            return cluster;
        } catch (RuntimeException | AssertionError e) {
            cluster.close();
            throw e;
        }
    }

    private void startServers(Way way) {
        List<Integer> ports = new ArrayList<>();
        List<Integer> advertised = new ArrayList<>();
        List<String> members = new ArrayList<>();
        for (int i = 0; i < SERVERS; i++) {
            ServerAddress address = ServerAddress.unused();
            ports.add(address.port());
            advertised.add(way.open(network, "s" + i, address));
            members.add("s" + i + "=http://127.0.0.1:" + advertised.get(i));
        }
        for (int i = 0; i < SERVERS; i++) {
            List<String> own = new ArrayList<>(List.of("--name", "s" + i));
            own.addAll(EtcdServer.peer(ports.get(i), advertised.get(i)));
            own.addAll(List.of("--initial-cluster", String.join(",", members)));
            servers.add(EtcdServer.startWithoutWaiting(own));
        }
    }

    /**
     * Lets no server reach one of them any more, nor that one any other: clients still reach all of them.
     *
     * @param server one of {@link #servers()}
     */
    public void cutOff(EtcdServer server) {
        network.cutOff(servers.indexOf(server));
    }

    /** Ends {@link #cutOff(EtcdServer)}. */
    public void heal() {
        network.heal();
    }

    /** Waits until all of them serve. */
    public void awaitAll() {
        Awaitility.await("the cluster to be complete")
                .atMost(LIMIT)
                .until(() -> servers.stream().allMatch(EtcdServer::isHealthy));
    }

    /**
     * Returns what a store connects to.
     *
     * @return for {@link dev.latchkey.LockFactory#connect(String)}
     */
    public String dsn() {
        return dsn(servers);
    }

    /**
     * Returns what a store connects to that asks these servers in this order.
     *
     * @param order some of {@link #servers()}
     * @return for {@link dev.latchkey.LockFactory#connect(String)}
     */
    public static String dsn(List<EtcdServer> order) {
        return order.stream()
                .map(server -> server.address().toString())
                .collect(Collectors.joining(",", "etcd://", ""));
    }

    /**
     * Returns its servers.
     *
     * @return three
     */
    public List<EtcdServer> servers() {
        return List.copyOf(servers);
    }

    /**
     * Returns the server that leads, once one does.
     *
     * @return one of {@link #servers()}
     */
    public EtcdServer leader() {
        return leaderAmong(servers);
    }

    /**
     * Returns the server that leads, once one of some does.
     *
     * @param some of {@link #servers()}, which all answer
     * @return one of them
     */
    public static EtcdServer leaderAmong(List<EtcdServer> some) {
        return Awaitility.await("a leader")
                .atMost(LIMIT)
                .until(() -> some.stream().filter(EtcdServer::leads).findFirst(), found -> found.isPresent())
                .orElseThrow();
    }

    /** Ends all servers. */
    @Override
    public void close() {
        servers.forEach(EtcdServer::close);
        network.close();
    }
}
