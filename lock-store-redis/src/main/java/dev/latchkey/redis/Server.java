package dev.latchkey.redis;

import dev.latchkey.LockStorageException;
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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Runs scripts over one connection, opened when first needed. What is asked here waits for its answer whether the thread is
 * interrupted or not, but never longer than the limit; the interrupt flag stays as it was.
 */
final class Server implements RedisConnectionStateListener {

    /** For the first connection, which has the driver load its classes; it gives up by itself where nobody answers. */
    private static final Duration SHORTEST_CONNECT_LIMIT = Duration.ofSeconds(30);

    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final Connections connections;
    private final Failures failures;
    private final Duration limit;
    private final Opening<StatefulConnection<byte[], byte[]>> connection;
    private final AtomicInteger generation = new AtomicInteger();

    Server(Connections connections, Failures failures, Duration limit) {
        this.connections = connections;
        this.failures = failures;
        this.limit = limit;
        this.connection = new Opening<>(this::connectNow, this::disconnect);
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
        StatefulConnection<byte[], byte[]> open = connection.there();
        return open == null ? open(resource) : open;
    }

    boolean isConnected() {
        return connection.there() != null;
    }

    private StatefulConnection<byte[], byte[]> open(String resource) {
        return opened(resource, opening -> Uninterrupted.await(opening, patience()));
    }

    /** Connects, if it is not connected yet. */
    void connect(String resource) throws InterruptedException {
        opened(resource, opening -> opening.get(patience().toNanos(), TimeUnit.NANOSECONDS));
    }

    private interface Waiter<X extends Exception> {
        StatefulConnection<byte[], byte[]> await(CompletableFuture<StatefulConnection<byte[], byte[]>> opening)
                throws X, ExecutionException, TimeoutException;
    }

    private <X extends Exception> StatefulConnection<byte[], byte[]> opened(String resource, Waiter<X> waiter)
            throws X {
        if (connection.isClosed()) {
            throw failures.closed(resource);
        }
        try {
            return waiter.await(connection.begin());
        } catch (ExecutionException e) {
            throw failures.of(resource, e);
        } catch (CancellationException e) {
            throw failures.closed(resource);
        } catch (TimeoutException e) {
            throw cannotConnect(resource);
        }
    }

    /** Who comes late waits no longer for a connection than the first who wanted it. */
    private Duration patience() {
        return connectLimit().minusNanos(connection.ageNanos());
    }

    LockStorageException cannotConnect(String resource) {
        return failures.of(resource, new RedisException("connecting takes longer than " + connectLimit()));
    }

    Duration connectLimit() {
        return limit.compareTo(SHORTEST_CONNECT_LIMIT) > 0 ? limit : SHORTEST_CONNECT_LIMIT;
    }

    private StatefulConnection<byte[], byte[]> connectNow() {
        StatefulConnection<byte[], byte[]> opened = connections.commands();
        opened.addListener(this);
        return opened;
    }

    private void disconnect(StatefulConnection<byte[], byte[]> opened) {
        opened.removeListener(this);
        connections.close(opened);
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
        return answer(resource, answer, System.nanoTime() + limit.toNanos()).get(0);
    }

    /**
     * Sends and waits for the answer.
     *
     * @throws LockStorageException if there is none within the limit, or the server refuses
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

    /** Waits for an answer to what was sent before; what failed is not sent again. */
    List<Long> answer(String resource, Future<List<Long>> answer, long endNanos) {
        try {
            return await(resource, answer, endNanos);
        } catch (ExecutionException e) {
            throw failures.of(resource, e);
        }
    }

    private <T> T await(String resource, Future<T> answer, long endNanos) throws ExecutionException {
        try {
            return Uninterrupted.await(answer, Duration.ofNanos(endNanos - System.nanoTime()));
        } catch (TimeoutException e) {
            answer.cancel(false);
            throw failures.noAnswer(resource, limit);
        } catch (CancellationException e) {
            throw new ExecutionException(e);
        }
    }

    void close() {
        connection.close(limit);
        connections.close();
    }
}
