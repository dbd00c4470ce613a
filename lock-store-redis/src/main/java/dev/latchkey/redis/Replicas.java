package dev.latchkey.redis;

import dev.latchkey.spi.Response;
import java.time.Duration;

/** Waits for replicas to acknowledge a write, if the store was built to do so. */
final class Replicas {

    private final ScriptRunner server;
    private final int count;
    private final Duration maxWait;

    Replicas(ScriptRunner server, int count, Duration maxWait) {
        this.server = server;
        this.count = count;
        this.maxWait = maxWait;
    }

    boolean areWanted() {
        return count > 0;
    }

    /**
     * Waits until the replicas have what was granted.
     *
     * @param sent the request that was answered
     * @throws dev.latchkey.LockStorageException as {@link #acknowledge}
     */
    Response acknowledged(ScriptRunner.Sent sent, Response response) {
        if (response instanceof Response.Granted) {
            acknowledge(sent);
        }
        return response;
    }

    /**
     * Waits until the replicas have what was written.
     *
     * @param sent the request that wrote, or the first of several
     * @throws dev.latchkey.LockStorageException if they do not have it in time, or the connection was lost since: the server of
     *     the next connection only knows what was written over that one
     */
    void acknowledge(ScriptRunner.Sent sent) {
        if (!areWanted()) {
            return;
        }
        String resource = sent.request().resource();
        long acknowledged = server.replicated(resource, count, maxWait);
        if (!sent.session().equals(server.link().session(resource))) {
            throw server.failures().reconnected(resource);
        }
        if (acknowledged < count) {
            throw server.failures().notReplicated(resource, acknowledged, count, maxWait);
        }
    }
}
