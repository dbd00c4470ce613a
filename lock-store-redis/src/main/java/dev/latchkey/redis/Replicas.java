package dev.latchkey.redis;

import dev.latchkey.spi.Response;
import java.time.Duration;

/** Waits for replicas to acknowledge what was granted, where that is asked for. */
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
     * Waits until what was granted has reached them.
     *
     * @param session the connection before it was asked for
     * @throws dev.latchkey.LockStorageException as {@link #acknowledge}
     */
    Response acknowledged(String resource, SharedConnection.Session session, Response response) {
        if (response instanceof Response.Granted) {
            acknowledge(resource, session);
        }
        return response;
    }

    /**
     * Waits until what was written has reached them, where that is asked for.
     *
     * @param session the connection before it was written
     * @throws dev.latchkey.LockStorageException if it has not, or the connection is another one by now: its server knows only
     *     of what was written over it
     */
    void acknowledge(String resource, SharedConnection.Session session) {
        if (!areWanted()) {
            return;
        }
        long acknowledged = server.replicated(resource, count, maxWait);
        if (!session.equals(server.link().session(resource))) {
            throw server.failures().reconnected(resource);
        }
        if (acknowledged < count) {
            throw server.failures().notReplicated(resource, acknowledged, count, maxWait);
        }
    }
}
