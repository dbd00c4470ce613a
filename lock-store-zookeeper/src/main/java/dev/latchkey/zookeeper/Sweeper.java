package dev.latchkey.zookeeper;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException.Code;

/**
 * Removes, in the background, nodes that may have been left behind while the servers could not be asked. Asks until they
 * answer, or the session has ended, and its nodes with it; whether anything else depends on the session does not matter.
 */
final class Sweeper {

    /** Whatever one has left in a line. */
    private record Chore(String parent, String id) {}

    /**
     * For what asks the servers without waiting for them. On the JVM's own timer: its common pool may be full of threads that
     * wait for what a sweep would let them have.
     */
    static final Executor LATER = CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS, Runnable::run);

    private final Requests requests;
    private final PredecessorWatches neighbours;
    private final Map<Chore, CompletableFuture<Reply<Void>>> chores = new ConcurrentHashMap<>();

    Sweeper(Requests requests, PredecessorWatches neighbours) {
        this.requests = requests;
        this.neighbours = neighbours;
    }

    void sweep(QueueNode place) {
        Chore chore = new Chore(place.parent(), place.id());
        chores.putIfAbsent(chore, new CompletableFuture<>());
        begin(chore);
    }

    /** Returns when nothing is left, or at the limit, and goes on in the background. */
    void sweepUp(QueueNode place, CallTimeout<RuntimeException> limit) {
        Chore chore = new Chore(place.parent(), place.id());
        CompletableFuture<Reply<Void>> done = new CompletableFuture<>();
        CompletableFuture<Reply<Void>> before = chores.putIfAbsent(chore, done);
        begin(chore);
        Reply<Void> unused = limit.answer(before == null ? done : before);
    }

    private void done(Chore chore) {
        neighbours.gone(chore.id());
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
            // Removed; or there is no parent, no session, or no permission any more.
            done(chore);
        }
    }
}
