package dev.latchkey.dynamodb;

import dev.latchkey.LockStorageException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;

/**
 * Makes calls of the SDK on threads that nobody interrupts: the SDK gives up a call of an interrupted thread, and it must be known
 * what came of it. Each call ends within the time limit.
 */
final class Calls implements AutoCloseable {

    /** What the SDK needs to end a call whose time is over. */
    private static final Duration GRACE = Duration.ofSeconds(1);

    private final Duration timeout;
    private final Repetitions repetitions;
    private final ThreadPoolExecutor pool;

    Calls(Duration timeout, Repetitions repetitions) {
        this.timeout = timeout;
        this.repetitions = repetitions;
        AtomicInteger number = new AtomicInteger();
        // Each ends after a second without work.
        pool = new ThreadPoolExecutor(0, Integer.MAX_VALUE, 1, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
            Thread thread = new Thread(null, task, "latchkey-dynamodb-" + number.incrementAndGet(), 0, false);
            thread.setDaemon(true);
            return thread;
        });
    }

    /** The time limit of each request, for clients of the caller as well. */
    AwsRequestOverrideConfiguration limit() {
        return AwsRequestOverrideConfiguration.builder().apiCallTimeout(timeout).build();
    }

    /** Makes a call within the time limit. A condition that failed is thrown as it is. */
    <T> T call(String resource, Supplier<T> call) {
        return call(resource, call, timeout.plus(GRACE));
    }

    /** Makes a call that may take longer than others. */
    <T> T call(String resource, Supplier<T> call, Duration within) {
        try {
            return CompletableFuture.supplyAsync(call, pool)
                    .orTimeout(within.toMillis(), TimeUnit.MILLISECONDS)
                    .join();
        } catch (RejectedExecutionException e) {
            throw Failures.closed(resource);
        } catch (CompletionException e) {
            Throwable cause = e.getCause();
            if (cause instanceof ConditionalCheckFailedException failed) {
                throw failed;
            }
            if (cause instanceof SdkException failed) {
                throw Failures.of(resource, failed, repetitions);
            }
            if (cause instanceof IllegalStateException && pool.isShutdown()) {
                throw new LockStorageException(resource, "the store was closed during the request", cause);
            }
            throw new LockStorageException(resource, "DynamoDB did not answer within " + within, cause);
        }
    }

    boolean isClosed() {
        return pool.isShutdown();
    }

    /** Lets the threads end when what they do has ended. */
    @Override
    public void close() {
        pool.shutdown();
    }
}
