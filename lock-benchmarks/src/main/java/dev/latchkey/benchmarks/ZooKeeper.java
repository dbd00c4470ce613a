package dev.latchkey.benchmarks;

import dev.latchkey.LockFactory;
import dev.latchkey.servers.ZooKeeperServer;
import java.net.URI;
import java.util.List;
import java.util.function.BiFunction;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;

/** The ZooKeeper store beside Curator's recipes and the least that locks there. */
final class ZooKeeper implements Contest {

    private static final int SESSION_MILLIS = 40_000;
    private static final String NO_TOKEN = "fencing token, word of a lost session before a rival can hold";

    private static final Contender LATCHKEY = Contender.latchkey(dsn -> Ours.exclusive(connect(dsn)));
    private static final Contender FLOOR = Contender.floor(
            "create + delete",
            "waiting (asks every 5 ms), order of arrival, sharing, word of a loss, return after a lost answer",
            ZooKeeper::bare);
    private static final Contender MUTEX = Contender.peer(
            "Curator InterProcessMutex",
            NO_TOKEN,
            curator((curator, resource) -> new InterProcessMutex(curator, "/curator/mutex/" + resource)));
    private static final Contender WRITE = Contender.peer(
            "Curator InterProcessReadWriteLock, write",
            NO_TOKEN,
            curator((curator, resource) ->
                    new InterProcessReadWriteLock(curator, "/curator/write/" + resource).writeLock()));

    private static final List<Contender> ALL = List.of(
            LATCHKEY,
            Contender.latchkeyShared(dsn -> Ours.shared(connect(dsn))),
            FLOOR,
            MUTEX,
            WRITE,
            Contender.peer(
                            "Curator InterProcessReadWriteLock, read",
                            "word of a lost session before a rival can hold",
                            curator((curator, resource) ->
                                    new InterProcessReadWriteLock(curator, "/curator/read/" + resource).readLock()))
                    .shared());

    @Override
    public String store() {
        return "zookeeper";
    }

    @Override
    public List<Contender> contenders() {
        return ALL;
    }

    /** It saves a round trip, which one processor cannot show, since it is busy in the meantime. */
    @Override
    public List<Table> tables() {
        List<Contender> core = List.of(LATCHKEY, FLOOR, MUTEX);
        return List.of(
                Table.alone(Placement.ALL_PROCESSORS, ALL),
                Table.threads(Placement.ALL_PROCESSORS, ALL),
                Table.alone(Placement.ONE_PROCESSOR, core).named("uncontended-pinned"),
                Table.threads(Placement.ONE_PROCESSOR, List.of(LATCHKEY, MUTEX)).named("threads-pinned"));
    }

    @Override
    public Servers start() {
        ZooKeeperServer server = ZooKeeperServer.start("maxSessionTimeout=60000");
        String version = server.command("srvr")
                .lines()
                .findFirst()
                .orElseThrow()
                .replaceFirst("^Zookeeper version: ([^-,]*).*", "$1");
        return new Servers(
                server.dsn(), "ZooKeeper " + version + " without fsync", server::packetsReceived, server::close);
    }

    private static LockFactory connect(String dsn) {
        return LockFactory.connect(dsn + "?sessionTimeout=" + SESSION_MILLIS);
    }

    private static Contender.Opener curator(BiFunction<CuratorFramework, String, InterProcessLock> recipe) {
        return dsn -> {
            CuratorFramework curator = CuratorFrameworkFactory.newClient(
                    URI.create(dsn).getAuthority(), SESSION_MILLIS, 15_000, new ExponentialBackoffRetry(1_000, 3));
            curator.start();
            return resource -> {
                InterProcessLock lock = recipe.apply(curator, resource);
                return new Cycle() {
                    @Override
                    public void take() throws Exception {
                        lock.acquire();
                    }

                    @Override
                    public boolean giveUp() throws Exception {
                        lock.release();
                        return true;
                    }
                };
            };
        };
    }

    private static Contender.Client bare(String dsn) throws Exception {
        CuratorFramework curator = CuratorFrameworkFactory.newClient(
                URI.create(dsn).getAuthority(), SESSION_MILLIS, 15_000, new ExponentialBackoffRetry(1_000, 3));
        curator.start();
        var zooKeeper = curator.getZookeeperClient().getZooKeeper();
        return resource -> new Cycle() {
            private final String path = "/bare " + resource;

            @Override
            public void take() throws Exception {
                Cycle.poll(() -> {
                    try {
                        zooKeeper.create(path, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
                        return true;
                    } catch (KeeperException.NodeExistsException e) {
                        return false;
                    }
                });
            }

            @Override
            public boolean giveUp() throws Exception {
                zooKeeper.delete(path, -1);
                return true;
            }
        };
    }

    @Override
    public List<String> libraries() {
        return List.of("zookeeper", "curator-recipes");
    }
}
