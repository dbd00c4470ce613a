package dev.latchkey.zookeeper;

import dev.latchkey.testkit.TimeLimits;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;

/** A plain client beside the stores, to look at what they have left. */
final class Nodes implements AutoCloseable {

    private final ZooKeeper client;

    private Nodes(ZooKeeper client) {
        this.client = client;
    }

    static Nodes of(String dsn) throws Exception {
        return new Nodes(connect(dsn.replace("zookeeper://", ""), 10_000));
    }

    /** A client that is connected. */
    static ZooKeeper connect(String servers, int timeoutMillis) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper client = new ZooKeeper(servers, timeoutMillis, event -> {
            if (event.getState() == KeeperState.SyncConnected) {
                connected.countDown();
            }
        });
        if (!connected.await(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError("no connection to " + servers);
        }
        return client;
    }

    ZooKeeper client() {
        return client;
    }

    /** The line of a resource, of all servers' view. */
    List<String> line(String resource) throws Exception {
        return below("/latchkey/" + resource);
    }

    List<String> below(String path) throws Exception {
        client.sync(path);
        try {
            return client.getChildren(path, false);
        } catch (KeeperException.NoNodeException e) {
            return List.of();
        }
    }

    @Override
    public void close() {
        try {
            client.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
