package dev.latchkey.zookeeper;

import dev.latchkey.zookeeper.Requests.Children;
import dev.latchkey.zookeeper.Requests.Created;
import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;

/**
 * Blocking requests: the answer goes from the thread that reads the connection directly to the caller, without the event
 * thread in between. After an interrupt the result is unknown; see {@link CallTimeout#call}.
 */
final class DirectRequests {

    private final ZooKeeper client;
    private final List<ACL> acl;
    private final Replies answers;

    DirectRequests(ZooKeeper client, List<ACL> acl, Replies answers) {
        this.client = client;
        this.acl = acl;
        this.answers = answers;
    }

    Reply<Created> join(String parent, String prefix) throws InterruptedException {
        long sent = System.nanoTime();
        Stat stat = new Stat();
        try {
            String path =
                    client.create(parent + '/' + prefix, Requests.NOTHING, acl, CreateMode.EPHEMERAL_SEQUENTIAL, stat);
            return answers.written(Code.OK.intValue(), sent, Created.of(path, stat.getCzxid()));
        } catch (KeeperException e) {
            return answers.written(e.code().intValue(), sent, null);
        }
    }

    Reply<Children> children(String parent) throws InterruptedException {
        Stat stat = new Stat();
        try {
            List<String> names = client.getChildren(parent, false, stat);
            return answers.read(Code.OK.intValue(), new Children(names, stat));
        } catch (KeeperException e) {
            return answers.read(e.code().intValue(), null);
        }
    }

    Reply<Void> delete(String path) throws InterruptedException {
        long sent = System.nanoTime();
        try {
            client.delete(path, Requests.ANY_VERSION);
            return answers.written(Code.OK.intValue(), sent, null);
        } catch (KeeperException e) {
            return answers.written(e.code().intValue(), sent, null);
        }
    }
}
