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

/** What went wrong on the server or on the way to it, in words of ours. */
final class Failures {

    private static final Pattern DENIED = Pattern.compile(
            "^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR invalid password|ERR DB index|ERR invalid DB index)");
    private static final int DEEPEST = 10;

    private final String server;
    private final KeyNames names;

    /**
     * Describes failures of one server.
     *
     * @param server what to call it: an address without credentials
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
                        + ": is it reachable, and not busy with a long command? Whether the request took effect is not known",
                null);
    }

    LockStorageException notReplicated(String resource, long replicas, int wanted, Duration limit) {
        return new LockStorageException(
                resource,
                replicas + " of the " + wanted + " replicas asked for had acknowledged what was written within " + limit
                        + ": is replication running?",
                null);
    }

    LockStorageException reconnected(String resource) {
        return new LockStorageException(
                resource,
                "the connection to " + server
                        + " was lost before replicas had acknowledged the lock: whether any has it is not known",
                null);
    }

    LockStorageException of(String resource, Throwable failure) {
        Throwable cause = unwrapped(failure);
        Optional<String> denied = denial(cause, 0);
        return denied.isPresent()
                ? new LockStorageException(resource, denied(denied.get()), cause, Failure.DENIED)
                : new LockStorageException(resource, problem(cause), cause);
    }

    /** There is no connection, so nothing was sent. */
    LockStorageException notConnected(String resource, Throwable failure) {
        Throwable cause = unwrapped(failure);
        LockStorageException described = of(resource, failure);
        return described.failure() == Failure.DENIED
                ? described
                : new LockStorageException(resource, problem(cause), cause, Failure.NOT_SENT);
    }

    /**
     * What a server said that does not accept the credentials, or does not allow what was asked: the driver wraps what was
     * answered to it while it connected, and names what each sentinel or server of a cluster said apart.
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
                ? server + " does not let this user do it: " + said
                        + ". The rights the store needs stand in docs/stores/redis.md"
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
            return "the key of this resource on " + server
                    + " holds something else than a lock, which was left as it is: "
                    + "remove it, or choose another key prefix than \"" + names.prefix() + "\"";
        }
        if (said.startsWith("OOM")) {
            return server + " is out of memory: " + said;
        }
        return server + " refused: " + said;
    }

    /** The server does not know the script, for the first time or since it was restarted or flushed. */
    static boolean isUnknownScript(Throwable failure) {
        return unwrapped(failure) instanceof RedisNoScriptException;
    }

    /**
     * Nothing was done, and the next try may succeed: the slot of the resource is being moved, a cluster is without a master for it,
     * a server reads its data, or has become a replica and the connection is made anew.
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
     * The server at the other end is a replica, or has become one. In scripts of 6.2 it says so in the middle of a sentence; one
     * that must not answer with old data says that its master is away.
     */
    static boolean isReplica(Throwable failure) {
        Throwable cause = unwrapped(failure);
        String said = Objects.toString(cause.getMessage(), "");
        return cause instanceof RedisCommandExecutionException
                && (said.contains("READONLY ") || said.startsWith("MASTERDOWN"));
    }

    /** The driver has no connection just now, and has sent nothing. */
    static boolean isRejected(Throwable failure) {
        return unwrapped(failure) instanceof RedisException rejected
                && Objects.toString(rejected.getMessage(), "").startsWith("Currently not connected");
    }

    /** Nobody answered: the same request may be sent again, for asking twice comes to the same. */
    static boolean isConnection(Throwable failure) {
        return !(unwrapped(failure) instanceof RedisCommandExecutionException);
    }

    /** What failed, without what has carried it here. */
    static Throwable unwrapped(Throwable failure) {
        Throwable cause = failure;
        while ((cause instanceof CompletionException || cause instanceof ExecutionException)
                && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause instanceof CancellationException ? new IllegalStateException("the request was given up") : cause;
    }
}
