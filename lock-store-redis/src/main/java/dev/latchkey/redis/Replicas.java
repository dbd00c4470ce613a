package dev.latchkey.redis;

import dev.latchkey.spi.Attempt;
import java.time.Duration;

/** Waits for replicas to acknowledge what was granted, where that is asked for. */
final class Replicas {

    private final Server server;
    private final int count;
    private final Duration maxWait;

    Replicas(Server server, int count, Duration maxWait) {
        this.server = server;
        this.count = count;
        this.maxWait = maxWait;
    }

    boolean areWanted() {
        return count > 0;
    }

    Attempt acknowledged(String resource, Attempt attempt) {
        if (attempt instanceof Attempt.Granted) {
            acknowledge(resource);
        }
        return attempt;
    }

    /** Waits until they have what the connection has written, where that is asked for. */
    void acknowledge(String resource) {
        if (!areWanted()) {
            return;
        }
        long acknowledged = server.replicated(resource, count, maxWait);
        if (acknowledged < count) {
            throw server.failures().notReplicated(resource, acknowledged, count, maxWait);
        }
    }
}
