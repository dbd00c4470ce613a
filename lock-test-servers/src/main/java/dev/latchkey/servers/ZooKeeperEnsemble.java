package dev.latchkey.servers;

import dev.latchkey.testkit.ServerAddress;
import dev.latchkey.testkit.TimeLimits;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;

/** Three ZooKeeper servers of this machine that are one, as long as two of them run. */
public final class ZooKeeperEnsemble implements AutoCloseable {

    private static final int SERVERS = 3;
    private static final Duration LIMIT = TimeLimits.LIMIT;

    private final List<ZooKeeperServer> servers;

    private ZooKeeperEnsemble(List<ZooKeeperServer> servers) {
        this.servers = servers;
    }

    /**
     * Starts the ensemble.
     *
     * @param settings more lines of the configuration of each, such as {@code "maxSessionTimeout=60000"}; without it they
     *     grant sessions of 4 s at most
     * @return ready: one leads, the others follow
     */
    public static ZooKeeperEnsemble start(String... settings) {
        List<String> common = new ArrayList<>(List.of("initLimit=50", "syncLimit=10"));
        common.addAll(List.of(settings));
        for (int i = 1; i <= SERVERS; i++) {
            common.add("server." + i + "=127.0.0.1:" + ServerAddress.unused().port() + ":"
                    + ServerAddress.unused().port());
        }
        List<ZooKeeperServer> servers = new ArrayList<>();
        ZooKeeperEnsemble ensemble = new ZooKeeperEnsemble(servers);
        try {
            for (int i = 1; i <= SERVERS; i++) {
                List<String> own = new ArrayList<>(common);
                own.add("myid=" + i);
                servers.add(ZooKeeperServer.startWithoutWaiting(own));
            }
            ensemble.awaitAll();
            return ensemble;
        } catch (RuntimeException | AssertionError e) {
            ensemble.close();
            throw e;
        }
    }

    /** Waits until all of them serve. */
    public void awaitAll() {
        Awaitility.await("the ensemble to be complete")
                .atMost(LIMIT)
                .until(() -> servers.stream().allMatch(ZooKeeperEnsemble::serves));
    }

    private static boolean serves(ZooKeeperServer server) {
        try {
            String state = server.command("srvr");
            return state.contains("Mode: leader") || state.contains("Mode: follower");
        } catch (UncheckedIOException notYet) {
            return false;
        }
    }

    /**
     * Returns what a store connects to.
     *
     * @return for {@link dev.latchkey.LockFactory#connect(String)}
     */
    public String dsn() {
        return servers.stream()
                .map(server -> server.address().toString())
                .collect(Collectors.joining(",", "zookeeper://", ""));
    }

    /**
     * Returns its servers.
     *
     * @return three
     */
    public List<ZooKeeperServer> servers() {
        return List.copyOf(servers);
    }

    /**
     * Returns the server that leads, once one does.
     *
     * @return one of {@link #servers()}
     */
    public ZooKeeperServer leader() {
        return Awaitility.await("a leader")
                .atMost(LIMIT)
                .until(() -> servers.stream().filter(ZooKeeperServer::leads).findFirst(), found -> found.isPresent())
                .orElseThrow();
    }

    /** Ends all servers. */
    @Override
    public void close() {
        servers.forEach(ZooKeeperServer::close);
    }
}
