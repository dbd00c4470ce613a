package dev.latchkey.zookeeper;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Asks holders of other keys to give back what they may only keep. */
final class Recalls {

    private final Requests requests;

    Recalls(Requests requests) {
        this.requests = requests;
    }

    /**
     * Asks the holders by sticky nodes. Does not wait for the answers.
     *
     * @return whether one of them was asked for the first time
     */
    CompletableFuture<Boolean> recall(List<String> paths) {
        CompletableFuture<Boolean> recalled = CompletableFuture.completedFuture(false);
        for (String path : paths) {
            recalled = recalled.thenCombine(recall(path), Boolean::logicalOr);
        }
        return recalled;
    }

    /** If the answer is lost, it is repeated until there is one: nobody asks that holder again. */
    private CompletableFuture<Boolean> recall(String path) {
        return requests.recall(path).thenApply(reply -> {
            if (reply.isLost()) {
                Sweeper.LATER.execute(() -> {
                    var unused = recall(path);
                });
            }
            return reply.isOk();
        });
    }
}
