package dev.latchkey.redis;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulConnection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs scripts over one connection, opened when first needed. What is asked here waits for its answer whether the thread is
 * interrupted or not, but never longer than the limit; the interrupt flag stays as it was.
 */
final class Server implements RedisConnectionStateListener {

    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private static final Duration LONGEST_CONNECT = Duration.ofSeconds(60);

    private final Connections connections;
    private final Failures failures;
    private final Duration limit;
    private final ReentrantLock opening = new ReentrantLock();
    private final AtomicInteger generation = new AtomicInteger();
    private volatile @Nullable StatefulConnection<byte[], byte[]> connection;
    private volatile boolean closed;

    Server(Connections connections, Failures failures, Duration limit) {
        this.connections = connections;
        this.failures = failures;
        this.limit = limit;
    }

    Failures failures() {
        return failures;
    }

    Duration limit() {
        return limit;
    }

    /** Changes with every connection lost: the times of two servers must not be compared. */
    int generation() {
        return generation.get();
    }

    void newGeneration() {
        generation.incrementAndGet();
    }

    @Override
    public void onRedisDisconnected(RedisChannelHandler<?, ?> lost) {
        newGeneration();
    }

    /** Returns the open connection. Whoever measures a request from before it was sent calls this first. */
    StatefulConnection<byte[], byte[]> connected(String resource) {
        StatefulConnection<byte[], byte[]> open = connection;
        return open == null || closed ? open(resource) : open;
    }

    private StatefulConnection<byte[], byte[]> open(String resource) {
        opening.lock();
        try {
            if (closed) {
                throw failures.closed(resource);
            }
            StatefulConnection<byte[], byte[]> open = connection;
            if (open == null) {
                open = uninterrupted(connections::commands);
                open.addListener(this);
                connection = open;
            }
            return open;
        } catch (RedisException e) {
            throw failures.of(resource, e);
        } finally {
            opening.unlock();
        }
    }

    /**
     * The driver gives up connecting when the thread is interrupted, and then forgets to close what it has opened: so it
     * connects on a thread of its own.
     */
    static <T> T uninterrupted(Supplier<T> work) {
        FutureTask<T> task = new FutureTask<>(work::get);
        Thread thread = new Thread(task, "latchkey-redis-connect");
        thread.setDaemon(true);
        thread.start();
        try {
            return awaitUninterrupted(task, LONGEST_CONNECT);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException known ? known : new RedisException(e.getCause());
        } catch (TimeoutException e) {
            throw new RedisException("connecting took longer than " + LONGEST_CONNECT);
        }
    }

    /** Sends without waiting. A server that does not know the script is sent its text. */
    CompletableFuture<List<Long>> send(String resource, Script script, byte[] key, byte[]... args) {
        return send(resource, script, List.of(key), args);
    }

    private CompletableFuture<List<Long>> send(String resource, Script script, List<byte[]> keys, byte[]... args) {
        StatefulConnection<byte[], byte[]> open = connected(resource);
        CompletableFuture<List<Long>> answer = new CompletableFuture<>();
        dispatch(open, Call.byDigest(script, keys, args), answer, failure -> {
            if (Failures.isUnknownScript(failure)) {
                dispatch(open, Call.bySource(script, keys, args), answer, answer::completeExceptionally);
            } else {
                answer.completeExceptionally(failure);
            }
        });
        return answer;
    }

    private static void dispatch(
            StatefulConnection<byte[], byte[]> open,
            Call call,
            CompletableFuture<List<Long>> answer,
            Consumer<Throwable> onFailure) {
        call.onComplete((reply, failure) -> {
            if (failure == null) {
                answer.complete(reply);
            } else {
                onFailure.accept(failure);
            }
        });
        // Given up, it must not be sent when the connection comes back.
        var unused = answer.whenComplete((reply, failure) -> call.cancel(false));
        try {
            open.dispatch(call);
        } catch (RuntimeException e) {
            onFailure.accept(e);
        }
    }

    /** Asks how many replicas have acknowledged what this connection has written. */
    long replicated(String resource, int replicas, Duration maxWait) {
        CompletableFuture<List<Long>> answer = new CompletableFuture<>();
        dispatch(
                connected(resource), Call.waitFor(replicas, maxWait.toMillis()), answer, answer::completeExceptionally);
        try {
            return await(resource, answer, System.nanoTime() + limit.toNanos()).get(0);
        } catch (ExecutionException e) {
            throw failures.of(resource, e);
        }
    }

    /**
     * Sends and waits for the answer.
     *
     * @throws dev.latchkey.LockStorageException if there is none within the limit, or the server refuses
     */
    List<Long> ask(String resource, Script script, byte[] key, byte[]... args) {
        return ask(resource, script, List.of(key), args);
    }

    /** As {@link #ask(String, Script, byte[], byte[]...)}, about several resources; a failure names the first. */
    List<Long> ask(String resource, Script script, List<byte[]> keys, byte[]... args) {
        long end = System.nanoTime() + limit.toNanos();
        while (true) {
            try {
                return await(resource, send(resource, script, keys, args), end);
            } catch (ExecutionException e) {
                boolean again = Failures.isSlotMoving(e) || (Failures.isConnection(e) && script.isRepeatable());
                if (!again || end - System.nanoTime() <= PAUSE_NANOS) {
                    throw failures.of(resource, e);
                }
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    private <T> T await(String resource, Future<T> answer, long endNanos) throws ExecutionException {
        try {
            return awaitUninterrupted(answer, Duration.ofNanos(endNanos - System.nanoTime()));
        } catch (TimeoutException e) {
            answer.cancel(false);
            throw failures.noAnswer(resource, limit);
        } catch (CancellationException e) {
            throw new ExecutionException(e);
        }
    }

    static <T> T awaitUninterrupted(Future<T> answer, Duration maxWait) throws ExecutionException, TimeoutException {
        long end = System.nanoTime() + maxWait.toNanos();
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return answer.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    void close() {
        opening.lock();
        try {
            closed = true;
            StatefulConnection<byte[], byte[]> open = connection;
            if (open != null) {
                open.removeListener(this);
                uninterrupted(() -> {
                    connections.close(open);
                    return true;
                });
            }
            connections.close();
        } finally {
            opening.unlock();
        }
    }
}
