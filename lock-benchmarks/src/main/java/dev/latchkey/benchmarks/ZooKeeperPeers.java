package dev.latchkey.benchmarks;

import java.net.URI;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;

/** Curator's recipes, and the bare nodes, each over a client of Curator. */
final class ZooKeeperPeers {

    static final int SESSION_MILLIS = 40_000;

    private static final int CONNECT_MILLIS = 15_000;

    private ZooKeeperPeers() {}

    static Contender.Opener curator(BiFunction<CuratorFramework, String, InterProcessLock> recipe) {
        return dsn -> {
            CuratorFramework curator = connect(dsn);
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

    static Contender.Client bare(String dsn) throws Exception {
        CuratorFramework curator = connect(dsn);
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

    /** Opens a session and closes it. */
    static void openSession(String dsn) {
        try (CuratorFramework curator = connect(dsn)) {
            if (!curator.blockUntilConnected(CONNECT_MILLIS, TimeUnit.MILLISECONDS)) {
                throw new IllegalStateException("no session of " + dsn);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while a session was opened", e);
        }
    }

    private static CuratorFramework connect(String dsn) {
        CuratorFramework curator = CuratorFrameworkFactory.newClient(
                URI.create(dsn).getAuthority(), SESSION_MILLIS, CONNECT_MILLIS, new ExponentialBackoffRetry(1_000, 3));
        curator.start();
        return curator;
    }
}
