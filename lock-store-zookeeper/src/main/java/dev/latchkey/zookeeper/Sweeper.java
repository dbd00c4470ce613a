package dev.latchkey.zookeeper;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException.Code;

/**
 * Deletes nodes in the background that may have been left behind while the servers did not answer. Repeats until they answer
 * or the session ends, whether or not anything else depends on the session.
 */
final class Sweeper {

    /** All nodes of one id in a queue. */
    private record Chore(String parent, String id) {}

    /**
     * Runs requests later, which do not wait for answers. On the JVM's timer: the threads of the common pool may all wait for
     * locks that a sweep would free.
     */
    static final Executor LATER = CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS, Runnable::run);

    private final Requests requests;
    private final PredecessorWatches predecessorWatches;
    private final Map<Chore, CompletableFuture<Reply<Void>>> chores = new ConcurrentHashMap<>();

    Sweeper(Requests requests, PredecessorWatches predecessorWatches) {
        this.requests = requests;
        this.predecessorWatches = predecessorWatches;
    }

    void sweep(QueueNode place) {
        Chore chore = new Chore(place.parent(), place.id());
        chores.putIfAbsent(chore, new CompletableFuture<>());
        begin(chore);
    }

    /** Returns when nothing is left, or at the limit, and continues in the background. */
    void sweepUp(QueueNode place, CallTimeout<RuntimeException> limit) {
        Chore chore = new Chore(place.parent(), place.id());
        CompletableFuture<Reply<Void>> done = new CompletableFuture<>();
        CompletableFuture<Reply<Void>> before = chores.putIfAbsent(chore, done);
        begin(chore);
        Reply<Void> unused = limit.answer(before == null ? done : before);
    }

    private void done(Chore chore) {
        predecessorWatches.gone(chore.id());
        CompletableFuture<Reply<Void>> done = chores.remove(chore);
        if (done != null) {
            done.complete(Reply.of(Code.OK.intValue(), null));
        }
    }

    void awaitDone(CallTimeout<RuntimeException> limit) {
        while (!chores.isEmpty() && !limit.isOver()) {
            limit.pause();
        }
    }

    private void begin(Chore chore) {
        var unused = requests.childrenNow(chore.parent()).thenAccept(children -> {
            if (children.isOk()) {
                remove(chore, new WaitQueue(children.value().names(), 0).namesOf(chore.id()));
            } else {
                endOrRepeat(chore, children);
            }
        });
    }

    private void remove(Chore chore, List<String> names) {
        if (names.isEmpty()) {
            done(chore);
            return;
        }
        List<String> paths =
                names.stream().map(name -> chore.parent() + '/' + name).toList();
        var unused = requests.delete(paths).thenAccept(deleted -> {
            if (deleted.is(Code.NONODE)) {
                begin(chore);
            } else {
                endOrRepeat(chore, deleted);
            }
        });
    }

    private void endOrRepeat(Chore chore, Reply<?> last) {
        if (last.isLost()) {
            LATER.execute(() -> begin(chore));
        } else {
            // Deleted; or the parent, the session or the permission is gone.
            done(chore);
        }
    }
}
