package dev.latchkey.redis;

import java.time.Duration;

/** What a {@link RedisStore.Builder} has been told so far. Refuses what is out of range; names the defaults. */
final class StoreOptions {

    private static final Duration SHORTEST_RETENTION = Duration.ofSeconds(1);
    private static final Duration LONGEST_RETENTION = Duration.ofDays(36_500);

    private final Connections connections;
    private String server = "the Redis server";
    private KeyNames names = new KeyNames("lock:");
    private Duration retention = Duration.ofMinutes(10);
    private Duration commandTimeout = Duration.ofSeconds(3);
    private MemoryPolicy memoryPolicy = MemoryPolicy.WARN;
    private int replicas;
    private Duration replicaWait = Duration.ZERO;

    StoreOptions(Connections connections) {
        this.connections = connections;
    }

    /** Returns the connections; each for commands is refused if the server may evict locks and must not. */
    Connections checkedConnections() {
        return memoryPolicy.watching(connections, server, commandTimeout);
    }

    /** The server, as messages name it. */
    String server() {
        return server;
    }

    void setServer(String address) {
        server = address;
    }

    KeyNames names() {
        return names;
    }

    void setNames(KeyNames newNames) {
        names = newNames;
    }

    Duration retention() {
        return retention;
    }

    void setRetention(Duration newRetention) {
        if (newRetention.compareTo(SHORTEST_RETENTION) < 0 || newRetention.compareTo(LONGEST_RETENTION) > 0) {
            throw new IllegalArgumentException(
                    "retention " + newRetention + ": must be from " + SHORTEST_RETENTION + " to " + LONGEST_RETENTION);
        }
        retention = newRetention;
    }

    Duration commandTimeout() {
        return commandTimeout;
    }

    void setCommandTimeout(Duration timeout) {
        if (timeout.isNegative() || timeout.isZero() || timeout.compareTo(Duration.ofDays(1)) > 0) {
            throw new IllegalArgumentException(
                    "command timeout " + timeout + ": must be more than zero and at most a day");
        }
        commandTimeout = timeout;
    }

    void setMemoryPolicy(MemoryPolicy policy) {
        memoryPolicy = policy;
    }

    Replicas replicas(ScriptRunner runner) {
        return new Replicas(runner, replicas, replicaWait);
    }

    void setReplicas(int count, Duration maxWait) {
        if (count < 1) {
            throw new IllegalArgumentException(count + " replicas: must be at least 1");
        }
        if (maxWait.toMillis() < 1) {
            throw new IllegalArgumentException("waiting " + maxWait + " for replicas: must be at least 1 ms");
        }
        if (!connections.isOneServer()) {
            throw new IllegalArgumentException("replicas cannot be waited for on a cluster");
        }
        replicas = count;
        replicaWait = maxWait;
    }

    /** Refuses what does not fit together, which is known only when all is set. */
    void check() {
        if (replicaWait.compareTo(commandTimeout) >= 0) {
            throw new IllegalArgumentException("waiting " + replicaWait
                    + " for replicas: must be shorter than the command timeout, " + commandTimeout);
        }
    }
}
