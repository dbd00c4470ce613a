package dev.latchkey.zookeeper;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;

/**
 * The asynchronous requests of one session. They are sent at once and answered in order: when a request is answered, all
 * earlier ones have been carried out. Answers come on the client's event thread.
 */
final class Requests {

    static final byte[] NOTHING = {};
    static final int ANY_VERSION = -1;

    /**
     * A new node.
     *
     * @param name its last part, with its number
     * @param zxid of the transaction that made it
     */
    record Created(String name, long zxid) {

        static Created of(String path, long zxid) {
            return new Created(path.substring(path.lastIndexOf('/') + 1), zxid);
        }
    }

    /**
     * What is below a node.
     *
     * @param stat of the node
     */
    record Children(List<String> names, Stat stat) {}

    private final ZooKeeper client;
    private final List<ACL> acl;
    private final Replies answers;

    Requests(ZooKeeper client, List<ACL> acl, Replies answers) {
        this.client = client;
        this.acl = acl;
        this.answers = answers;
    }

    /** Creates a node at the end of a queue. */
    CompletableFuture<Reply<Created>> join(String parent, String prefix) {
        CompletableFuture<Reply<Created>> answer = new CompletableFuture<>();
        long sent = System.nanoTime();
        client.create(
                parent + '/' + prefix,
                NOTHING,
                acl,
                CreateMode.EPHEMERAL_SEQUENTIAL,
                (code, path, context, name, stat) -> answer.complete(
                        answers.written(code, sent, code == 0 ? Created.of(name, stat.getCzxid()) : null)),
                null);
        return answer;
    }

    /**
     * As {@link #join}, and raises the floor of the queue to it in the same transaction.
     *
     * @param content of the parent, as it is
     */
    CompletableFuture<Reply<Created>> joinAndRaiseFloor(String parent, String prefix, byte[] content) {
        CompletableFuture<Reply<Created>> answer = new CompletableFuture<>();
        long sent = System.nanoTime();
        List<Op> all = List.of(
                Op.create(parent + '/' + prefix, NOTHING, acl, CreateMode.EPHEMERAL_SEQUENTIAL),
                Op.setData(parent, content, ANY_VERSION));
        client.multi(
                all,
                (code, path, context, results) ->
                        answer.complete(answers.written(code, sent, code == 0 ? created(results) : null)),
                null);
        return answer;
    }

    private static Created created(List<OpResult> results) {
        String path = ((OpResult.CreateResult) results.get(0)).getPath();
        return Created.of(
                path, ((OpResult.SetDataResult) results.get(1)).getStat().getMzxid());
    }

    /** Creates a container, which the servers remove when its last child is gone. */
    CompletableFuture<Reply<Void>> makeParent(String path, byte[] content) {
        CompletableFuture<Reply<Void>> answer = new CompletableFuture<>();
        long sent = System.nanoTime();
        client.create(
                path,
                content,
                acl,
                CreateMode.CONTAINER,
                (code, asked, context, name, stat) -> answer.complete(answers.written(code, sent, null)),
                null);
        return answer;
    }

    CompletableFuture<Reply<Children>> children(String parent) {
        CompletableFuture<Reply<Children>> answer = new CompletableFuture<>();
        client.getChildren(
                parent,
                false,
                (code, path, context, names, stat) ->
                        answer.complete(answers.read(code, code == 0 ? new Children(names, stat) : null)),
                null);
        return answer;
    }

    /** Returns the children as the leader knows them. */
    CompletableFuture<Reply<Children>> childrenNow(String parent) {
        CompletableFuture<Reply<Void>> unused = sync(parent);
        return children(parent);
    }

    /** Makes the server of this session catch up with its leader. */
    CompletableFuture<Reply<Void>> sync(String path) {
        CompletableFuture<Reply<Void>> answer = new CompletableFuture<>();
        client.sync(path, (code, asked, context) -> answer.complete(answers.read(code, null)), null);
        return answer;
    }

    /** Commits a transaction that changes nothing and triggers no watch. */
    CompletableFuture<Reply<Void>> commit(String path) {
        return all(List.of(Op.check(path, ANY_VERSION)));
    }

    CompletableFuture<Reply<Stat>> stat(String path) {
        CompletableFuture<Reply<Stat>> answer = new CompletableFuture<>();
        client.exists(path, false, (code, asked, context, stat) -> answer.complete(answers.read(code, stat)), null);
        return answer;
    }

    /** Returns whether the client drops all its watches with an event, as one that is told not to set them again does. */
    boolean dropsWatches(WatchedEvent event) {
        return event.getState() != KeeperState.SyncConnected
                && client.getClientConfig().getBoolean(ZKClientConfig.DISABLE_AUTO_WATCH_RESET);
    }

    /** Returns the content of a node. */
    CompletableFuture<Reply<byte[]>> content(String path) {
        CompletableFuture<Reply<byte[]>> answer = new CompletableFuture<>();
        client.getData(
                path, false, (code, asked, context, data, stat) -> answer.complete(answers.read(code, data)), null);
        return answer;
    }

    /** Sets a watch for the next change or the deletion of a node; returns its data. */
    CompletableFuture<Reply<byte[]>> watch(String path, Watcher watcher) {
        CompletableFuture<Reply<byte[]>> answer = new CompletableFuture<>();
        client.getData(
                path, watcher, (code, asked, context, data, stat) -> answer.complete(answers.read(code, data)), null);
        return answer;
    }

    /** Writes the content of a node if it has a version; triggers the watches of it. */
    CompletableFuture<Reply<Stat>> write(String path, byte[] content, int version) {
        CompletableFuture<Reply<Stat>> answer = new CompletableFuture<>();
        long sent = System.nanoTime();
        client.setData(
                path,
                content,
                version,
                (code, asked, context, stat) -> answer.complete(answers.written(code, sent, stat)),
                null);
        return answer;
    }

    /** Creates a mark and triggers the watches of a node, in one transaction. */
    CompletableFuture<Reply<Void>> mark(String markPath, String watched, byte[] data) {
        return all(List.of(
                Op.create(markPath, NOTHING, acl, CreateMode.EPHEMERAL), Op.setData(watched, data, ANY_VERSION)));
    }

    /** Deletes nodes: all of them, or none if one is missing. */
    CompletableFuture<Reply<Void>> delete(List<String> paths) {
        if (paths.size() > 1) {
            return all(paths.stream().map(path -> Op.delete(path, ANY_VERSION)).toList());
        }
        CompletableFuture<Reply<Void>> answer = new CompletableFuture<>();
        long sent = System.nanoTime();
        client.delete(
                paths.get(0),
                ANY_VERSION,
                (code, asked, context) -> answer.complete(answers.written(code, sent, null)),
                null);
        return answer;
    }

    private CompletableFuture<Reply<Void>> all(List<Op> operations) {
        CompletableFuture<Reply<Void>> answer = new CompletableFuture<>();
        long sent = System.nanoTime();
        client.multi(
                operations, (code, path, context, results) -> answer.complete(answers.written(code, sent, null)), null);
        return answer;
    }
}
