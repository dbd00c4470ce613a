package dev.latchkey.benchmarks;

import dev.latchkey.LockFactory;
import dev.latchkey.servers.ZooKeeperServer;
import java.util.List;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;

/** The ZooKeeper store beside Curator's recipes and the least that locks there. */
final class ZooKeeper implements Contest {

    private static final String WITHOUT_FSYNC = "without-fsync";
    private static final String LONG_SESSIONS = "maxSessionTimeout=60000";

    /** ZooKeeper's default, which servers in use keep; those of tests do without. */
    private static final String ON_DISK = "forceSync=yes";

    private static final String DISK_WAITS = "zk_cnt_fsynctime\t";

    private static final String NO_TOKEN = "fencing token, word of a lost session before a rival can hold";

    private static final Contender LATCHKEY = Contender.latchkey(dsn -> Ours.exclusive(connect(dsn)));
    private static final Contender FLOOR = Contender.floor(
            "create + delete",
            "waiting (asks every 5 ms), order of arrival, sharing, word of a loss, return after a lost answer",
            ZooKeeperPeers::bare);
    private static final Contender MUTEX = Contender.peer(
            "Curator InterProcessMutex",
            NO_TOKEN,
            ZooKeeperPeers.curator(
                    (curator, resource) -> new InterProcessMutex(curator, "/curator/mutex/" + resource)));
    private static final Contender WRITE = Contender.peer(
            "Curator InterProcessReadWriteLock, write",
            NO_TOKEN,
            ZooKeeperPeers.curator((curator, resource) ->
                    new InterProcessReadWriteLock(curator, "/curator/write/" + resource).writeLock()));

    /** With fsync, only these: the shared ones wait for the disk as often, and a row takes more than half a minute. */
    private static final List<Contender> EXCLUSIVE = List.of(LATCHKEY, FLOOR, MUTEX, WRITE);

    private static final List<Contender> ALL = List.of(
            LATCHKEY,
            Contender.latchkeyShared(dsn -> Ours.shared(connect(dsn))),
            FLOOR,
            MUTEX,
            WRITE,
            Contender.peer(
                            "Curator InterProcessReadWriteLock, read",
                            "word of a lost session before a rival can hold",
                            ZooKeeperPeers.curator((curator, resource) ->
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

    /** It saves a round trip, which one processor cannot show without fsync, since it is busy in the meantime. */
    @Override
    public List<Table> tables() {
        return List.of(
                Table.alone(Placement.ALL_PROCESSORS, EXCLUSIVE),
                Table.threads(Placement.ALL_PROCESSORS, EXCLUSIVE),
                withoutFsync(Table.alone(Placement.ALL_PROCESSORS, ALL)),
                withoutFsync(Table.threads(Placement.ALL_PROCESSORS, ALL)),
                withoutFsync(Table.alone(Placement.ONE_PROCESSOR, List.of(LATCHKEY, FLOOR, MUTEX))
                        .named("uncontended-pinned")),
                withoutFsync(Table.threads(Placement.ONE_PROCESSOR, List.of(LATCHKEY, MUTEX))
                        .named("threads-pinned")));
    }

    private static Table withoutFsync(Table table) {
        return table.named(table.name() + "-" + WITHOUT_FSYNC).titled(", without fsync");
    }

    @Override
    public Servers start(Table table) {
        return table.name().endsWith(WITHOUT_FSYNC) ? start(ZooKeeperServer.start(LONG_SESSIONS)) : start();
    }

    @Override
    public Servers start() {
        return start(ZooKeeperServer.start(LONG_SESSIONS, ON_DISK));
    }

    private static Servers start(ZooKeeperServer server) {
        try {
            return new Servers(server.dsn(), software(server), server::packetsReceived, server::close);
        } catch (RuntimeException e) {
            server.close();
            throw e;
        }
    }

    private static String software(ZooKeeperServer server) {
        String version = server.command("srvr")
                .lines()
                .findFirst()
                .orElseThrow()
                .replaceFirst("^Zookeeper version: ([^-,]*).*", "$1");
        return "ZooKeeper " + version + ", fsync " + (countsWaitsForDisk(server) ? "on" : "off");
    }

    /** No command tells the setting. To open a session is a write, and the server counts how often it waited after one. */
    private static boolean countsWaitsForDisk(ZooKeeperServer server) {
        ZooKeeperPeers.openSession(server.dsn());
        return server.command("mntr")
                .lines()
                .filter(line -> line.startsWith(DISK_WAITS))
                .map(line -> line.substring(DISK_WAITS.length()))
                .findFirst()
                .map(count -> Long.parseLong(count) > 0)
                .orElseThrow();
    }

    private static LockFactory connect(String dsn) {
        return LockFactory.connect(dsn + "?sessionTimeout=" + ZooKeeperPeers.SESSION_MILLIS + "ms");
    }

    @Override
    public List<String> libraries() {
        return List.of("zookeeper", "curator-recipes");
    }
}
