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

    private final List<EtcdServer> servers;

    private EtcdCluster(List<EtcdServer> servers) {
        this.servers = servers;
    }

    /**
     * Starts the cluster.
     *
     * @return ready: one leads, the others follow
     */
    public static EtcdCluster start() {
        List<Integer> ports = new ArrayList<>();
        List<String> members = new ArrayList<>();
        for (int i = 0; i < SERVERS; i++) {
            int port = ServerAddress.unused().port();
            ports.add(port);
            members.add("s" + i + "=http://127.0.0.1:" + port);
        }
        List<EtcdServer> servers = new ArrayList<>();
        EtcdCluster cluster = new EtcdCluster(servers);
        try {
            for (int i = 0; i < SERVERS; i++) {
                List<String> own = new ArrayList<>(List.of("--name", "s" + i));
                own.addAll(EtcdServer.peer(ports.get(i)));
                own.addAll(List.of("--initial-cluster", String.join(",", members)));
                servers.add(EtcdServer.startWithoutWaiting(own));
            }
            cluster.awaitAll();
            return cluster;
        } catch (RuntimeException | AssertionError e) {
            cluster.close();
            throw e;
        }
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
    }
}
