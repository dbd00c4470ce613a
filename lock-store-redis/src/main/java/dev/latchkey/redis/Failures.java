package dev.latchkey.redis;

import dev.latchkey.LockStorageException;
import dev.latchkey.LockStorageException.Failure;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisNoScriptException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Classifies and describes what went wrong on the server or on the way to it. */
final class Failures {

    private static final Pattern DENIED = Pattern.compile(
            "^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR invalid password|ERR DB index|ERR invalid DB index)");
    private static final int DEEPEST = 10;

    private final String server;
    private final KeyNames names;

    /**
     * Describes failures of one server.
     *
     * @param server the server, as messages name it: an address without credentials
     */
    Failures(String server, KeyNames names) {
        this.server = server;
        this.names = names;
    }

    String server() {
        return server;
    }

    LockStorageException closed(String resource) {
        return new LockStorageException(resource, "the Redis store was closed", null);
    }

    LockStorageException noAnswer(String resource, Duration limit) {
        return new LockStorageException(
                resource,
                server + " did not answer within " + limit
                        + ": check that it is reachable and not busy with a long command. "
                        + "Whether the request took effect is not known",
                null);
    }

    LockStorageException notReplicated(String resource, long replicas, int wanted, Duration limit) {
        return new LockStorageException(
                resource,
                replicas + " of " + wanted + " replicas acknowledged the write within " + limit
                        + ": check that replication is running",
                null);
    }

    LockStorageException reconnected(String resource) {
        return new LockStorageException(
                resource,
                "the connection to " + server
                        + " was lost before replicas acknowledged the lock: whether any has it is not known",
                null);
    }

    LockStorageException of(String resource, Throwable failure) {
        Throwable cause = unwrapped(failure);
        Optional<String> denied = denial(cause, 0);
        return denied.isPresent()
                ? new LockStorageException(resource, denied(denied.get()), cause, Failure.DENIED)
                : new LockStorageException(resource, problem(cause), cause);
    }

    /** Describes that nothing was sent, because there is no connection. */
    LockStorageException notConnected(String resource, Throwable failure) {
        Throwable cause = unwrapped(failure);
        LockStorageException described = of(resource, failure);
        return described.failure() == Failure.DENIED
                ? described
                : new LockStorageException(resource, problem(cause), cause, Failure.NOT_SENT);
    }

    /**
     * Returns the message of a server that does not accept the credentials or does not permit the request. The driver wraps
     * what it was answered while it connected, and reports the answers of several sentinels or servers as suppressed.
     */
    private static Optional<String> denial(Throwable failure, int depth) {
        String said = Objects.toString(failure.getMessage(), "");
        if (failure instanceof RedisCommandExecutionException
                && DENIED.matcher(said).find()) {
            return Optional.of(said);
        }
        return Stream.concat(Stream.ofNullable(failure.getCause()), Stream.of(failure.getSuppressed()))
                .flatMap(cause -> depth < DEEPEST ? denial(cause, depth + 1).stream() : Stream.empty())
                .findFirst();
    }

    private String denied(String said) {
        return said.startsWith("NOPERM")
                ? server + " does not permit this user to do it: " + said
                        + ". docs/stores/redis.md lists the permissions that the store needs"
                : server + " refused the connection: " + said;
    }

    private String problem(Throwable cause) {
        String said = Objects.toString(cause.getMessage(), cause.getClass().getSimpleName());
        if (cause instanceof MemoryPolicy.UnsuitableException) {
            return server + " is not used: " + said;
        }
        if (!(cause instanceof RedisCommandExecutionException)) {
            return "no connection to " + server + ": " + said;
        }
        if (said.startsWith("FOREIGN") || said.startsWith("WRONGTYPE")) {
            return "the key of this resource on " + server + " has a value that is not a lock, and was not changed: "
                    + "delete it, or use another key prefix than \"" + names.prefix() + "\"";
        }
        if (said.startsWith("OOM")) {
            return server + " is out of memory: " + said;
        }
        return server + " refused: " + said;
    }

    /** Whether the server does not know the script: for the first time, or since it was restarted or flushed. */
    static boolean isUnknownScript(Throwable failure) {
        return unwrapped(failure) instanceof RedisNoScriptException;
    }

    /**
     * Whether nothing was done and the next attempt may succeed: the slot of the resource moves, a cluster has no master for it, a
     * server loads its data, or it has become a replica and the store connects again.
     */
    static boolean isPassing(Throwable failure) {
        String said = Objects.toString(unwrapped(failure).getMessage(), "");
        return said.startsWith("TRYAGAIN")
                || said.contains("non local key")
                || said.startsWith("CLUSTERDOWN")
                || said.startsWith("LOADING")
                || isReplica(failure)
                || isRejected(failure);
    }

    /**
     * Whether the server is a replica, or has become one. A script of version 6.2 reports that in the middle of a sentence; a
     * replica that must not answer with old data reports that its master is down.
     */
    static boolean isReplica(Throwable failure) {
        Throwable cause = unwrapped(failure);
        String said = Objects.toString(cause.getMessage(), "");
        return cause instanceof RedisCommandExecutionException
                && (said.contains("READONLY ") || said.startsWith("MASTERDOWN"));
    }

    /** Whether the driver has no connection at the moment, and has sent nothing. */
    static boolean isRejected(Throwable failure) {
        return unwrapped(failure) instanceof RedisException rejected
                && Objects.toString(rejected.getMessage(), "").startsWith("Currently not connected");
    }

    /** Whether the server has not answered. A repeatable request may then be sent again. */
    static boolean isConnection(Throwable failure) {
        return !(unwrapped(failure) instanceof RedisCommandExecutionException);
    }

    /** Returns the failure without the exceptions that only carry it. */
    static Throwable unwrapped(Throwable failure) {
        Throwable cause = failure;
        while ((cause instanceof CompletionException || cause instanceof ExecutionException)
                && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause instanceof CancellationException ? new IllegalStateException("the request was given up") : cause;
    }
}
