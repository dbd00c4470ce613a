package dev.latchkey.redis;

import dev.latchkey.LockStorageException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Removes an attempt from the queue, and undoes what it was granted meanwhile. */
final class QueueExit {

    private final ScriptRunner server;
    private final AttemptRequests requests;
    private final Duration ttl;

    QueueExit(ScriptRunner server, AttemptRequests requests, Duration ttl) {
        this.server = server;
        this.requests = requests;
        this.ttl = ttl;
    }

    /** Waits for the answer, uninterruptibly, but not for longer than the command timeout. */
    void leave() {
        List<Long> unused = server.ask(requests.cancel());
    }

    /**
     * Does not wait, because threads of the driver call it. While the server cannot be reached it tries again each second, until
     * the lease that may have been granted is over.
     */
    void giveBack() {
        giveBack(System.nanoTime() + ttl.toNanos());
    }

    private void giveBack(long endNanos) {
        if (server.link().isClosed()) {
            return;
        }
        var unused = send().whenComplete((done, failure) -> {
            boolean passing = failure != null && (Failures.isConnection(failure) || Failures.isPassing(failure));
            if (passing && endNanos - System.nanoTime() > 0) {
                CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS).execute(() -> giveBack(endNanos));
            }
        });
    }

    private CompletableFuture<List<Long>> send() {
        try {
            return server.send(requests.cancel()).answer();
        } catch (LockStorageException e) {
            return CompletableFuture.failedFuture(e);
        }
    }
}
