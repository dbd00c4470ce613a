package dev.latchkey.memcached;

import dev.latchkey.LockStorageException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import net.spy.memcached.MemcachedClient;
import net.spy.memcached.internal.OperationFuture;
import net.spy.memcached.ops.StatusCode;
import org.jspecify.annotations.Nullable;

/**
 * Sends operations and waits for their answers. An answer that is neither a yes nor one of the noes of the protocol is a
 * {@link LockStorageException}: the driver's futures answer "false" for an error as well. Works with the interrupt flag
 * set, and keeps it.
 */
record Link(MemcachedClient client, Duration timeout) {

    private static final Set<StatusCode> NOES =
            Set.of(StatusCode.ERR_NOT_FOUND, StatusCode.ERR_EXISTS, StatusCode.ERR_NOT_STORED);

    /** Something the driver does that an interrupt can break off. */
    private interface Step<T> {
        T run() throws InterruptedException, ExecutionException, TimeoutException;
    }

    /** Sends an operation, and waits for the answer. */
    <T> @Nullable T ask(String resource, Supplier<OperationFuture<T>> operation) {
        return await(resource, send(resource, operation));
    }

    /** Sends an operation. The driver looks at the interrupt flag before it queues one, and then has not. */
    <T> OperationFuture<T> send(String resource, Supplier<OperationFuture<T>> operation) {
        return uninterrupted(resource, () -> {
            try {
                return operation.get();
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
        long end = System.nanoTime() + timeout.toNanos();
        T answer = uninterrupted(resource, () -> {
            try {
                return future.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
            } catch (TimeoutException e) {
                // Not to be sent once it is of no use any more.
                future.cancel();
                throw e;
            }
        });
        if (!future.getStatus().isSuccess() && !NOES.contains(future.getStatus().getStatusCode())) {
            throw failure(resource, "it answered \"" + future.getStatus().getMessage() + "\"", null);
        }
        return answer;
    }

    /** What the server tells of itself; empty if it does not, within the driver's own time limit. */
    Map<String, String> statistics(String resource) {
        return uninterrupted(resource, () -> {
            try {
                return client.getStats().values().stream().findFirst().orElse(Map.of());
            } catch (RuntimeException e) {
                if (e.getCause() instanceof InterruptedException || Thread.interrupted()) {
                    throw new InterruptedException();
                }
                throw e;
            }
        });
    }

    /** Runs one step to its end; the interrupt flag is as it was, or set if the thread was interrupted meanwhile. */
    private <T> T uninterrupted(String resource, Step<T> step) {
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
            throw failure(resource, "it did not answer within " + timeout, e);
        } catch (IllegalStateException e) {
            throw failure(resource, "the driver takes no operation: " + e.getMessage(), e);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private LockStorageException failed(String resource, ExecutionException e) {
        Throwable cause = e.getCause();
        return cause instanceof CancellationException || cause == null
                ? failure(resource, "the connection was lost, or cannot be had", cause)
                : failure(resource, "it answered with an error: " + cause.getMessage(), cause);
    }

    private LockStorageException failure(String resource, String problem, @Nullable Throwable cause) {
        return new LockStorageException(resource, "the Memcached server failed: " + problem, cause);
    }
}
