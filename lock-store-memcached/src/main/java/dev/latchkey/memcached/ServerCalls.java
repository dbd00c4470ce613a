package dev.latchkey.memcached;

import dev.latchkey.LockStorageException;
import dev.latchkey.LockStorageException.Failure;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import net.spy.memcached.MemcachedClient;
import net.spy.memcached.internal.OperationFuture;
import net.spy.memcached.ops.StatusCode;
import org.jspecify.annotations.Nullable;

/**
 * Sends operations and waits for their answers. An answer that is neither a yes nor one of the noes of the protocol is a
 * {@link LockStorageException}: the driver's futures answer "false" for an error as well. Works with the interrupt flag
 * set, and keeps it.
 */
record ServerCalls(ClientAccess access, Duration timeout) {

    private static final Set<StatusCode> NOES =
            Set.of(StatusCode.ERR_NOT_FOUND, StatusCode.ERR_EXISTS, StatusCode.ERR_NOT_STORED);

    /** Something the driver does that an interrupt can break off. */
    private interface Step<T> {
        T run() throws InterruptedException, ExecutionException, TimeoutException;
    }

    /** Sends an operation, and waits for the answer. */
    <T> @Nullable T ask(String resource, Function<MemcachedClient, OperationFuture<T>> operation) {
        long outage = access.outage();
        return await(resource, send(resource, operation), outage);
    }

    /** Sends an operation. The driver looks at the interrupt flag before it queues one, and then has not. */
    <T> OperationFuture<T> send(String resource, Function<MemcachedClient, OperationFuture<T>> operation) {
        MemcachedClient client = access.client(resource);
        return uninterrupted(resource, ClientAccess.CONNECTED, () -> {
            try {
                return operation.apply(client);
            } catch (IllegalStateException e) {
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                throw e;
            }
        });
    }

    /** Waits for the answer. Null: the answer was a no without a value. */
    <T> @Nullable T await(String resource, OperationFuture<T> future) {
        return await(resource, future, ClientAccess.CONNECTED);
    }

    private <T> @Nullable T await(String resource, OperationFuture<T> future, long outage) {
        long end = System.nanoTime() + timeout.toNanos();
        T answer = uninterrupted(resource, outage, () -> {
            try {
                return future.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
            } catch (TimeoutException e) {
                // Not to be sent once it is of no use any more.
                future.cancel();
                throw e;
            }
        });
        access.answered();
        if (!future.getStatus().isSuccess() && !NOES.contains(future.getStatus().getStatusCode())) {
            throw answered(resource, future.getStatus().getMessage(), null);
        }
        return answer;
    }

    /** What the server tells of itself; empty if it answers with nothing, as a proxy may. */
    Map<String, String> statistics(String resource) {
        long outage = access.outage();
        MemcachedClient client = access.client(resource);
        Map<String, String> answer = uninterrupted(resource, outage, () -> {
            long start = System.nanoTime();
            try {
                Map<String, String> told =
                        client.getStats().values().stream().findFirst().orElse(Map.of());
                // The driver gives up without a word, and with what it has until then.
                if (isPassed(client.getOperationTimeout(), start)) {
                    throw new TimeoutException();
                }
                return told;
            } catch (RuntimeException e) {
                if (e.getCause() instanceof InterruptedException || Thread.interrupted()) {
                    throw new InterruptedException();
                }
                throw e;
            }
        });
        access.answered();
        return answer;
    }

    private static boolean isPassed(long millis, long start) {
        return System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(millis);
    }

    /** Runs one step to its end; the interrupt flag is as it was, or set if the thread was interrupted meanwhile. */
    private <T> T uninterrupted(String resource, long outage, Step<T> step) {
        boolean interrupted = Thread.interrupted();
        try {
            while (true) {
                try {
                    return step.run();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } catch (ExecutionException e) {
            throw failed(resource, e);
        } catch (TimeoutException e) {
            access.unanswered();
            boolean isSent = outage == ClientAccess.CONNECTED || access.outage() != outage;
            throw failure(
                    resource,
                    isSent ? "it did not answer within " + timeout : "there was no connection to it within " + timeout,
                    e,
                    isSent ? Failure.IN_DOUBT : Failure.NOT_SENT);
        } catch (IllegalStateException e) {
            throw failure(resource, "the driver takes no operation: " + e.getMessage(), e, Failure.NOT_SENT);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private LockStorageException failed(String resource, ExecutionException e) {
        Throwable cause = e.getCause();
        return cause instanceof CancellationException || cause == null
                ? failure(resource, "the connection was lost, or cannot be had", cause, Failure.IN_DOUBT)
                : answered(resource, String.valueOf(cause.getMessage()), cause);
    }

    /** By either protocol, where it wants credentials or does not accept them. */
    private static LockStorageException answered(String resource, String said, @Nullable Throwable cause) {
        boolean isDenied = said.toLowerCase(Locale.ROOT).matches("(?s).*(unauthenticated|auth failure|auth error).*");
        return failure(resource, "it answered \"" + said + "\"", cause, isDenied ? Failure.DENIED : Failure.IN_DOUBT);
    }

    private static LockStorageException failure(
            String resource, String problem, @Nullable Throwable cause, Failure failure) {
        return new LockStorageException(resource, "the Memcached server failed: " + problem, cause, failure);
    }
}
