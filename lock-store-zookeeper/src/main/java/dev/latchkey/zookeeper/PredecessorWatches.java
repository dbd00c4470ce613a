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
 * Tells those in line what happens to the node before them: of a node of this session without asking anybody, of any other
 * by one watch, however many follow it.
 */
final class PredecessorWatches {

    /** What a writer's node holds once it only shares. */
    static final byte[] DEMOTED = {'d'};

    private final Requests requests;
    private final Map<String, QueueNode> places = new ConcurrentHashMap<>();
    private final Map<String, Watched> watches = new ConcurrentHashMap<>();

    /** The ids of writers' places that are given up here, while the servers have not said that the nodes are gone. */
    private final Set<String> leaving = ConcurrentHashMap.newKeySet();

    PredecessorWatches(Requests requests) {
        this.requests = requests;
    }

    void add(QueueNode place) {
        places.put(place.path(), place);
    }

    /** Its deletion is on its way: those of this store who follow it may hold already, whatever a line shows. */
    void leaves(QueueNode place) {
        if (place.kind() == NodeKind.WRITER) {
            leaving.add(place.id());
        }
        places.remove(place.path());
    }

    /** No node of that id is there any more, or will ever be told of. */
    void gone(String id) {
        leaving.remove(id);
    }

    Set<String> leaving() {
        return Set.copyOf(leaving);
    }

    /**
     * Has somebody told when it is worth while to look again.
     *
     * @param path of the node that keeps it waiting
     * @param line in which it was found
     * @return where to take it away from when it has been told or does not wait any more
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

    /** A node that somebody else made. */
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
            // The state of the connection is told as well; the watch outlasts it.
            if (event.getType() != EventType.None) {
                watches.remove(path, this);
                found.complete(Reply.of(Code.NONODE.intValue(), null));
                followers.tellLast(WaitSignal.LOOK);
            }
        }
    }
}
