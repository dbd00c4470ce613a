package dev.latchkey.redis;

import dev.latchkey.LockStorageException;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulConnection;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The connection for all commands of a store, opened when first needed, and how often it was lost.
 *
 * <p>A server may become a replica without closing its connections, and a network may drop what is sent. The store then opens
 * another connection, and uses it from then on.
 */
final class SharedConnection implements RedisConnectionStateListener {

    /** How long a connection that is no longer used stays open for answers. A dead server sends none. */
    private static final Duration LAST_ANSWERS = Duration.ofSeconds(1);

    private final Connections connections;
    private final Failures failures;
    private final Duration limit;
    private final LazyConnection<StatefulConnection<byte[], byte[]>> connection;
    private final ReentrantLock connecting = new ReentrantLock(true);
    private final AtomicInteger generation = new AtomicInteger();
    private final AtomicInteger losses = new AtomicInteger();

    /** The last generation in which a server has said that it is a replica. */
    private final AtomicInteger replicaIn = new AtomicInteger(-1);

    private final BooleanSupplier isAtReplica = this::isAtReplica;
    private final BooleanSupplier isSilent = this::isSilent;
    private volatile Runnable onMoved = () -> {};

    /** Since when the first request that was not answered in time was waited for; null if an answer has come since. */
    private volatile @Nullable Long silentSinceNanos;

    /** When the last answer came. */
    private volatile long heardNanos = System.nanoTime();

    /**
     * Opens nothing yet.
     *
     * @param limit how long to wait for an answer; connecting may take longer
     */
    SharedConnection(Connections connections, Failures failures, Duration limit) {
        this.connections = connections;
        this.failures = failures;
        this.limit = limit;
        this.connection = new LazyConnection<>(this::connectNow, this::disconnect, this::moved, LazyConnection::apart);
    }

    /** A number that changes with every lost connection, because times of two servers must not be compared. */
    int generation() {
        return generation.get();
    }

    void newGeneration() {
        generation.incrementAndGet();
    }

    /**
     * A connection until it is lost. All that is written during a session goes to one server.
     *
     * @param connection the connection of the driver, which connects again by itself
     * @param losses how often it was lost before
     */
    record Session(StatefulConnection<byte[], byte[]> connection, int losses) {}

    /** As {@link #connected}. Two sessions are equal if the connection was not lost between them. */
    Session session(String resource) {
        int before = losses.get();
        return new Session(connected(resource), before);
    }

    /** Sets what to do when commands go over a new connection, perhaps to another server. Threads of the driver call it: it must not wait. */
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
     * Notes an answer, from any thread.
     *
     * @param failure what the server or the driver reported instead; null for an answer
     * @param sentIn the generation before the request was sent. The answer of a connection that was replaced since says
     *     nothing about the one in use
     */
    void heard(@Nullable Throwable failure, int sentIn) {
        boolean isAnswer = failure == null || failure instanceof RedisCommandExecutionException;
        if (isAnswer) {
            heardNanos = System.nanoTime();
            if (silentSinceNanos != null) {
                silentSinceNanos = null;
            }
        }
        if (failure != null && Failures.isReplica(failure)) {
            replicaIn.accumulateAndGet(sentIn, Math::max);
            renew(isAtReplica);
        }
    }

    /**
     * When the last answer came from the one server that there is, which answers in the order of the requests; empty if there may be
     * several.
     */
    OptionalLong heardInOrderNanos() {
        return connections.isOneServer() ? OptionalLong.of(heardNanos) : OptionalLong.empty();
    }

    /**
     * Notes a request that was not answered in time. A single one may be a slow server; after several in a row, it connects again:
     * once no answer has come for one and a half times the limit.
     *
     * @param waited how long the answer was waited for
     */
    void unanswered(Duration waited) {
        long now = System.nanoTime();
        Long since = silentSinceNanos;
        if (since == null) {
            silentSinceNanos = now - waited.toNanos();
        } else if (now - since >= limit.toNanos() / 2 * 3) {
            renew(isSilent);
        }
    }

    private boolean isAtReplica() {
        return generation.get() == replicaIn.get();
    }

    private boolean isSilent() {
        return silentSinceNanos != null;
    }

    private void renew(BooleanSupplier isNeeded) {
        if (connections.areReplaceable()) {
            connection.renew(isNeeded);
        }
    }

    private void moved() {
        silentSinceNanos = null;
        newGeneration();
        onMoved.run();
    }

    /** Returns the open connection, and connects first if there is none. */
    StatefulConnection<byte[], byte[]> connected(String resource) {
        StatefulConnection<byte[], byte[]> open = connection.there();
        return open == null ? open(resource) : open;
    }

    boolean isConnected() {
        return connection.there() != null;
    }

    /**
     * Runs something after a pause, on a thread of the driver: it must not wait.
     *
     * @return false if the store is not connected, and it does not run
     */
    boolean later(Duration pause, Runnable task) {
        StatefulConnection<byte[], byte[]> open = connection.there();
        if (open == null) {
            return false;
        }
        try {
            var unused =
                    open.getResources().eventExecutorGroup().schedule(task, pause.toMillis(), TimeUnit.MILLISECONDS);
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    private StatefulConnection<byte[], byte[]> open(String resource) {
        return opened(resource, opening -> Uninterruptibles.await(opening, patience()));
    }

    /**
     * Connects if necessary. Callers that come while the store connects then send in the order in which they came: each calls
     * {@link #letNextSend} when it has sent.
     */
    void connectInOrder(String resource) throws InterruptedException {
        if (isConnected() && !connecting.hasQueuedThreads()) {
            return;
        }
        if (!connecting.tryLock(connectLimit().toNanos(), TimeUnit.NANOSECONDS)) {
            throw cannotConnect(resource);
        }
        var unused = opened(resource, opening -> opening.get(patience().toNanos(), TimeUnit.NANOSECONDS));
    }

    /** Ends what {@link #connectInOrder} may have begun. */
    void letNextSend() {
        if (connecting.isHeldByCurrentThread()) {
            connecting.unlock();
        }
    }

    boolean isClosed() {
        return connection.isClosed();
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

    /** A caller that comes later waits no longer than the first one. */
    private Duration patience() {
        return connectLimit().minusNanos(connection.ageNanos());
    }

    private LockStorageException cannotConnect(String resource) {
        return failures.notConnected(resource, new RedisException("connecting takes longer than " + connectLimit()));
    }

    private Duration connectLimit() {
        return limit.compareTo(TimedConnect.SHORTEST_LIMIT) > 0 ? limit : TimedConnect.SHORTEST_LIMIT;
    }

    private StatefulConnection<byte[], byte[]> connectNow() {
        StatefulConnection<byte[], byte[]> opened = connections.commands();
        opened.addListener(this);
        return opened;
    }

    private void disconnect(StatefulConnection<byte[], byte[]> opened) {
        opened.removeListener(this);
        if (connections.areReplaceable()) {
            awaitAnswers(opened);
        }
        connections.close(opened);
    }

    /** A release in flight would otherwise be in doubt. Answers come in order, so an empty script waits for those before it. */
    private static void awaitAnswers(StatefulConnection<byte[], byte[]> opened) {
        ScriptCall last = ScriptCall.byDigest(new ScriptRequest("", Script.INDEXES, List.of(), List.of()));
        try {
            opened.dispatch(last);
            List<Long> unused = Uninterruptibles.await(last, LAST_ANSWERS);
        } catch (ExecutionException | TimeoutException | RuntimeException e) {
            // A server that does not know the script answers as well.
            last.cancel(false);
        }
    }

    void close() {
        connection.close(limit);
        connections.close();
    }
}
