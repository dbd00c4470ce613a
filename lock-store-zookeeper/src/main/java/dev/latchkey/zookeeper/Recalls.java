package dev.latchkey.zookeeper;

import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.zookeeper.KeeperException.Code;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks holders of other keys to give back what they may only keep. */
final class Recalls {

    private static final byte[] RECALLED = {'r'};

    /** The version of a node that nobody has written to: who is second changes nothing, and triggers no watch. */
    private static final int UNTOUCHED = 0;

    private static final Logger log = LoggerFactory.getLogger(ZooKeeperStore.class);

    private final Requests requests;
    private final AtomicBoolean wasDenied = new AtomicBoolean();

    Recalls(Requests requests) {
        this.requests = requests;
    }

    /**
     * Asks the holders by sticky nodes. Does not wait for the answers.
     *
     * @param asked the names of nodes that the caller has asked before, which are left out; the others are added
     * @return whether one of them was asked for the first time
     */
    CompletableFuture<Boolean> recall(String parent, List<NodeName> sticky, Set<String> asked) {
        CompletableFuture<Boolean> recalled = CompletableFuture.completedFuture(false);
        for (NodeName node : sticky) {
            if (asked.add(node.name())) {
                recalled = recalled.thenCombine(recall(parent + '/' + node.name()), Boolean::logicalOr);
            }
        }
        return recalled;
    }

    /** If the answer is lost, it is repeated until there is one: nobody asks that holder again. */
    private CompletableFuture<Boolean> recall(String path) {
        return requests.write(path, RECALLED, UNTOUCHED).thenApply(reply -> {
            if (reply.isLost()) {
                Sweeper.LATER.execute(() -> {
                    var unused = recall(path);
                });
            }
            if (reply.is(Code.NOAUTH) && !wasDenied.getAndSet(true)) {
                log.warn("lock.recall_denied node={} consequence=waiting as long as sticky locks are kept", path);
            }
            return reply.isOk();
        });
    }
}
