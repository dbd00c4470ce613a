package dev.latchkey.redis;

import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.cluster.pubsub.RedisClusterPubSubAdapter;
import io.lettuce.core.cluster.pubsub.StatefulRedisClusterPubSubConnection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Sharded subscriptions of a cluster: one for each resource that a caller waits for, at the server that has its slot, over one
 * connection to each server. The most recent ones stay after the last wait.
 *
 * <p>When a slot moves, the old server ends the subscription. The store then subscribes at the new one and has all waiters ask.
 * A server that has become a replica or is gone does not end it; the polls of the waiters notice that.
 */
final class ShardedPubSubChannel extends RedisClusterPubSubAdapter<String, String> implements NotificationChannel {

    private static final int MOST_IDLE = 256;
    private static final long RETRY_MILLIS = 100;

    /** A subscription, and how many waiters use it; guarded by the guard. */
    private static final class Subscription {

        private int listeners;
        private @Nullable String known;
        private CompletableFuture<String> ready;
        private boolean confirmed;

        Subscription(@Nullable String known, CompletableFuture<String> ready) {
            this.known = known;
            this.ready = ready;
        }

        boolean isReady() {
            return ready.isDone() && !ready.isCompletedExceptionally();
        }

        boolean isAt(String server) {
            return isReady() && ready.join().equals(server);
        }
    }

    private final StatefulRedisClusterPubSubConnection<String, String> connection;
    private final ShardSubscriptions shards;
    private final KeyNames names;
    private final String id;
    private final WaiterRegistry waiters;
    private final ReentrantLock guard = new ReentrantLock();
    private final Map<String, Subscription> subscriptions = new LinkedHashMap<>(16, 0.75f, true);
    private volatile boolean closed;

    ShardedPubSubChannel(
            StatefulRedisClusterPubSubConnection<String, String> connection, KeyNames names, WaiterRegistry waiters) {
        this.connection = connection;
        this.shards = new ShardSubscriptions(connection);
        this.names = names;
        this.id = waiters.id();
        this.waiters = waiters;
        connection.setNodeMessagePropagation(true);
        connection.addListener(this);
    }

    @Override
    public Optional<Push> ready(String resource) {
        guard.lock();
        try {
            Subscription subscription = subscriptions.get(names.channel(resource, id));
            if (subscription == null || !subscription.isReady()) {
                return Optional.empty();
            }
            subscription.listeners++;
            return Optional.of(Push.SPUBLISH);
        } finally {
            guard.unlock();
        }
    }

    @Override
    public CompletableFuture<Push> listen(String resource) {
        String channel = names.channel(resource, id);
        CompletableFuture<String> ready = join(channel);
        return ready.handle((done, failure) -> {
            if (failure == null) {
                return Push.SPUBLISH;
            }
            leaveFailed(channel);
            throw new CompletionException(failure);
        });
    }

    private CompletableFuture<String> join(String channel) {
        guard.lock();
        try {
            Subscription subscription = subscriptions.get(channel);
            if (subscription == null) {
                subscription = new Subscription(shards.known(channel), shards.subscribe(channel));
                subscriptions.put(channel, subscription);
            }
            subscription.listeners++;
            dropIdle();
            return subscription.ready;
        } finally {
            guard.unlock();
        }
    }

    /** Others may use it, who have subscribed before the slot moved: for these, it is tried again. */
    private void leaveFailed(String channel) {
        guard.lock();
        try {
            Subscription subscription = subscriptions.get(channel);
            if (subscription != null && --subscription.listeners == 0) {
                subscriptions.remove(channel);
            }
        } finally {
            guard.unlock();
        }
    }

    private void dropIdle() {
        var oldest = subscriptions.entrySet().iterator();
        while (subscriptions.size() > MOST_IDLE && oldest.hasNext()) {
            Map.Entry<String, Subscription> entry = oldest.next();
            if (entry.getValue().listeners == 0) {
                oldest.remove();
                var unused = entry.getValue().ready.thenAccept(server -> shards.unsubscribe(entry.getKey(), server));
            }
        }
    }

    /** {@inheritDoc} Such messages are rare, so that each server may pass them on to all others. */
    @Override
    public CompletableFuture<?> listen() {
        return connection.async().subscribe(names.channel(id)).toCompletableFuture();
    }

    @Override
    public void message(RedisClusterNode from, String channel, String text) {
        waiters.message(text);
    }

    @Override
    public void leave(String resource) {
        guard.lock();
        try {
            Subscription subscription = subscriptions.get(names.channel(resource, id));
            if (subscription != null) {
                subscription.listeners--;
            }
        } finally {
            guard.unlock();
        }
    }

    @Override
    public void check(String resource) {
        String channel = names.channel(resource, id);
        String left;
        guard.lock();
        try {
            Subscription subscription = subscriptions.get(channel);
            String known = shards.known(channel);
            if (subscription == null || !subscription.isReady() || known == null || known.equals(subscription.known)) {
                // If the driver has learned nothing new, an answer of a server may have been more recent.
                return;
            }
            if (subscription.isAt(known)) {
                subscription.known = known;
                return;
            }
            left = subscription.ready.join();
        } finally {
            guard.unlock();
        }
        renew(channel);
        shards.unsubscribe(channel, left);
    }

    @Override
    public void smessage(RedisClusterNode from, String channel, String text) {
        waiters.message(text);
    }

    /** A second confirmation means that the connection was lost, or that the slot has moved. */
    @Override
    public void ssubscribed(RedisClusterNode from, String channel, long count) {
        boolean again;
        guard.lock();
        try {
            Subscription subscription = subscriptions.get(channel);
            again = subscription != null && subscription.confirmed;
            if (subscription != null) {
                subscription.confirmed = true;
            }
        } finally {
            guard.unlock();
        }
        if (again) {
            waiters.askAgain();
        }
    }

    @Override
    public void sunsubscribed(@Nullable RedisClusterNode from, String channel, long count) {
        guard.lock();
        try {
            Subscription subscription = subscriptions.get(channel);
            // The server is null if it has left the cluster.
            boolean isOld = from != null && subscription != null && !subscription.isAt(from.getNodeId());
            if (closed || subscription == null || isOld) {
                return;
            }
        } finally {
            guard.unlock();
        }
        // Not on this thread, which has to receive the answer.
        connection.getResources().eventExecutorGroup().execute(() -> renew(channel));
    }

    private void renew(String channel) {
        CompletableFuture<String> ready;
        guard.lock();
        try {
            Subscription subscription = subscriptions.get(channel);
            if (subscription == null || closed) {
                return;
            }
            subscription.known = shards.known(channel);
            ready = shards.subscribe(channel);
            subscription.ready = ready;
        } finally {
            guard.unlock();
        }
        var unused = ready.whenComplete((server, failure) -> {
            if (failure != null && !closed) {
                var unusedTimer = connection
                        .getResources()
                        .eventExecutorGroup()
                        .schedule(() -> renew(channel), RETRY_MILLIS, TimeUnit.MILLISECONDS);
            }
        });
    }

    @Override
    public void close() {
        closed = true;
        connection.removeListener(this);
        Connections.end(connection);
    }
}
