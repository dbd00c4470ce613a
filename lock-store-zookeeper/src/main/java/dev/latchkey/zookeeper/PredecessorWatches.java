package dev.latchkey.zookeeper;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;

/**
 * Tells waiters what happens to the node before them: directly for a node of this session, and by a single watch for any
 * other node, however many follow it.
 */
final class PredecessorWatches {

    /** The data of a writer's node that has been demoted. */
    static final byte[] DEMOTED = {'d'};

    private final Requests requests;
    private final Map<String, QueueNode> places = new ConcurrentHashMap<>();
    private final Map<String, Watched> watches = new ConcurrentHashMap<>();

    /** The ids of writers of this session whose deletion the servers have not confirmed yet. */
    private final Set<String> leaving = ConcurrentHashMap.newKeySet();

    PredecessorWatches(Requests requests) {
        this.requests = requests;
    }

    void add(QueueNode place) {
        places.put(place.path(), place);
    }

    /** Its deletion has been sent: its followers in this store may hold already, whatever the queue shows. */
    void leaves(QueueNode place) {
        if (place.kind() == NodeKind.WRITER) {
            leaving.add(place.id());
        }
        places.remove(place.path());
    }

    /** All nodes of that id are deleted. */
    void gone(String id) {
        leaving.remove(id);
    }

    Set<String> leaving() {
        return Set.copyOf(leaving);
    }

    /**
     * Tells a follower when to read the queue again.
     *
     * @param path the path of the node that it waits for
     * @param line the queue in which that was found
     * @return the listeners to remove the follower from when it has been told or no longer waits
     */
    NodeListeners follow(String path, NodeName obstacle, WaitQueue line, WaitRound follower) {
        boolean demotionIsKnown = line.isDemoted(obstacle);
        QueueNode place = places.get(path);
        if (place != null) {
            place.followers().add(follower);
            if (place.isDemoted() && !demotionIsKnown) {
                follower.tell(WaitSignal.LOOK);
            }
            return place.followers();
        }
        Watched watched = watches.computeIfAbsent(path, Watched::new);
        watched.followers.add(follower);
        var unused = watched.begin().thenAccept(data -> {
            if (!data.isOk() || (Arrays.equals(data.value(), DEMOTED) && !demotionIsKnown)) {
                follower.tell(WaitSignal.LOOK);
            }
        });
        return watched.followers;
    }

    /** A node of another session. */
    private final class Watched implements Watcher {

        private final String path;
        private final NodeListeners followers = new NodeListeners();
        private final CompletableFuture<Reply<byte[]>> found = new CompletableFuture<>();
        private boolean begun;

        Watched(String path) {
            this.path = path;
        }

        CompletableFuture<Reply<byte[]>> begin() {
            synchronized (this) {
                if (begun) {
                    return found;
                }
                begun = true;
            }
            var unused = requests.watch(path, this).thenAccept(data -> {
                if (!data.isOk()) {
                    watches.remove(path, this);
                }
                found.complete(data);
            });
            return found;
        }

        @Override
        public void process(WatchedEvent event) {
            // Events of the connection come here too; the watch outlasts them, unless the client forgets it.
            if (event.getType() != EventType.None || requests.dropsWatches(event)) {
                watches.remove(path, this);
                found.complete(Reply.of(Code.NONODE.intValue(), null));
                followers.tellLast(WaitSignal.LOOK);
            }
        }
    }
}
