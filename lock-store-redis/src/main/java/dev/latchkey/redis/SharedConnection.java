package dev.latchkey.redis;

import dev.latchkey.LockStorageException;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulConnection;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The connection that the commands of a store go over, opened when first needed, and how often it was lost.
 *
 * <p>A server behind an address may become a replica without ending its connections, and a network may swallow what is sent:
 * then another connection is opened, and takes the place of the first once it is there.
 */
final class SharedConnection implements RedisConnectionStateListener {

    private final Connections connections;
    private final Failures failures;
    private final Duration limit;
    private final LazyConnection<StatefulConnection<byte[], byte[]>> connection;
    private final AtomicInteger generation = new AtomicInteger();
    private final AtomicInteger losses = new AtomicInteger();
    private volatile Runnable onMoved = () -> {};

    /** When a request was first not answered in time, if no answer has come since. */
    private volatile @Nullable Long silentSinceNanos;

    /**
     * Prepares, and opens nothing.
     *
     * @param limit how long an answer is waited for; connecting may take longer
     */
    SharedConnection(Connections connections, Failures failures, Duration limit) {
        this.connections = connections;
        this.failures = failures;
        this.limit = limit;
        this.connection = new LazyConnection<>(this::connectNow, this::disconnect);
    }

    /** Changes with every connection lost: the times of two servers must not be compared. */
    int generation() {
        return generation.get();
    }

    void newGeneration() {
        generation.incrementAndGet();
    }

    /**
     * A connection for as long as it is not lost: all that is written over it goes to one server.
     *
     * @param connection of the driver, which connects again by itself
     * @param losses how often it was lost before
     */
    record Session(StatefulConnection<byte[], byte[]> connection, int losses) {}

    /** As {@link #connected}; equal as long as the connection was not lost. */
    Session session(String resource) {
        int before = losses.get();
        return new Session(connected(resource), before);
    }

    /** What to do when commands go over a new connection, to another server perhaps. Called by threads of the driver: must not wait. */
    void whenMoved(Runnable moved) {
        onMoved = moved;
    }

    @Override
    public void onRedisDisconnected(RedisChannelHandler<?, ?> lost) {
        losses.incrementAndGet();
        newGeneration();
    }

    @Override
    public void onRedisConnected(RedisChannelHandler<?, ?> again, SocketAddress address) {
        onMoved.run();
    }

    /**
     * Told of each answer, from any thread.
     *
     * @param failure what the server or the driver said instead; null if it answered
     */
    void heard(@Nullable Throwable failure) {
        boolean isAnswer = failure == null || failure instanceof RedisCommandExecutionException;
        if (isAnswer && silentSinceNanos != null) {
            silentSinceNanos = null;
        }
        if (failure != null && Failures.isReplica(failure)) {
            int before = generation.get();
            renew(() -> generation.get() == before);
        }
    }

    /** Told of each request that nobody has answered in time. One alone may be a slow server; several in a row are not. */
    void unanswered() {
        long now = System.nanoTime();
        Long since = silentSinceNanos;
        if (since == null) {
            silentSinceNanos = now;
        } else if (now - since >= limit.toNanos() / 2) {
            renew(() -> silentSinceNanos != null);
        }
    }

    private void renew(BooleanSupplier isNeeded) {
        if (connections.areOurs()) {
            connection.renew(isNeeded, this::moved);
        }
    }

    private void moved() {
        silentSinceNanos = null;
        newGeneration();
        onMoved.run();
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
        return opened(resource, opening -> Uninterruptibles.await(opening, patience()));
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
            throw failures.notConnected(resource, e);
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
        return failures.notConnected(resource, new RedisException("connecting takes longer than " + connectLimit()));
    }

    Duration connectLimit() {
        return limit.compareTo(TimedConnect.SHORTEST_LIMIT) > 0 ? limit : TimedConnect.SHORTEST_LIMIT;
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

    void close() {
        connection.close(limit);
        connections.close();
    }
}
