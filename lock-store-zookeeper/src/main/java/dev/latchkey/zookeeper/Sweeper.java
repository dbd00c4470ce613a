package dev.latchkey.zookeeper;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.KeeperException.Code;

/** Removes, in the background, nodes that may have been left behind while the servers could not be asked. */
final class Sweeper {

    /** Whatever one has left in a line. */
    private record Chore(String parent, String id) {}

    private final Requests requests;
    private final Set<Chore> chores = ConcurrentHashMap.newKeySet();

    Sweeper(Requests requests) {
        this.requests = requests;
    }

    void sweep(Place place) {
        Chore chore = new Chore(place.parent(), place.id());
        chores.add(chore);
        begin(chore);
    }

    boolean isDone() {
        return chores.isEmpty();
    }

    void awaitDone(Limit<RuntimeException> limit) {
        while (!isDone() && !limit.isOver()) {
            limit.pause();
        }
    }

    /** Tries again. */
    void run() {
        chores.forEach(this::begin);
    }

    private void begin(Chore chore) {
        var unused = requests.childrenNow(chore.parent()).thenAccept(children -> {
            if (children.isOk()) {
                remove(chore, new Line(children.value().names(), 0).namesOf(chore.id()));
            } else if (!children.isLost()) {
                // No parent, no session, or no permission any more.
                chores.remove(chore);
            }
        });
    }

    private void remove(Chore chore, List<String> names) {
        if (names.isEmpty()) {
            chores.remove(chore);
            return;
        }
        List<String> paths =
                names.stream().map(name -> chore.parent() + '/' + name).toList();
        var unused = requests.delete(paths).thenAccept(deleted -> {
            if (deleted.is(Code.NONODE)) {
                begin(chore);
            } else if (!deleted.isLost()) {
                chores.remove(chore);
            }
        });
    }
}
