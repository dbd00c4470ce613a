package dev.latchkey.redis;

import io.lettuce.core.RedisException;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.cluster.pubsub.RedisClusterPubSubAdapter;
import io.lettuce.core.cluster.pubsub.StatefulRedisClusterPubSubConnection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Sharded subscriptions in a cluster: one for each resource somebody waits for, at the server that has its slot, over one
 * connection for each server. They are kept for a while after the last wait.
 *
 * <p>When a slot moves, its old server ends the subscription; it is made anew at the next, and then all who wait ask.
 */
final class ShardedInbox extends RedisClusterPubSubAdapter<String, String> implements Inbox {

    private static final int MOST_IDLE = 256;
    private static final long RETRY_MILLIS = 100;

    /** How many listen, and the state of the subscription; guarded by the guard. */
    private static final class Subscription {
        private int listeners;
        private CompletableFuture<Void> ready = new CompletableFuture<>();
    }

    private final StatefulRedisClusterPubSubConnection<String, String> connection;
    private final Names names;
    private final String id;
    private final Mail mail;
    private final ReentrantLock guard = new ReentrantLock();
    private final Map<String, Subscription> subscriptions = new LinkedHashMap<>(16, 0.75f, true);
    private volatile boolean closed;

    ShardedInbox(StatefulRedisClusterPubSubConnection<String, String> connection, Names names, String id, Mail mail) {
        this.connection = connection;
        this.names = names;
        this.id = id;
        this.mail = mail;
        connection.setNodeMessagePropagation(true);
        connection.addListener(this);
    }

    @Override
    public Optional<Push> ready(String resource) {
        guard.lock();
        try {
            Subscription subscription = subscriptions.get(names.channel(resource, id));
            if (subscription == null || !subscription.ready.isDone() || subscription.ready.isCompletedExceptionally()) {
                return Optional.empty();
            }
            subscription.listeners++;
            return Optional.of(Push.SPUBLISH);
        } finally {
            guard.unlock();
        }
    }

    @Override
    public Push listen(String resource) {
        String channel = names.channel(resource, id);
        CompletableFuture<Void> ready = join(channel);
        try {
            Server.awaitUninterrupted(ready, connection.getTimeout());
            return Push.SPUBLISH;
        } catch (ExecutionException | TimeoutException e) {
            guard.lock();
            try {
                subscriptions.remove(channel);
            } finally {
                guard.unlock();
            }
            throw e.getCause() instanceof RedisException known ? known : new RedisException(e);
        }
    }

    private CompletableFuture<Void> join(String channel) {
        guard.lock();
        try {
            Subscription subscription = subscriptions.get(channel);
            if (subscription == null) {
                subscription = new Subscription();
                subscriptions.put(channel, subscription);
                subscribe(channel, owner(channel), subscription.ready);
                dropIdle();
            }
            subscription.listeners++;
            return subscription.ready;
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
                var unused = connection
                        .getConnectionAsync(owner(entry.getKey()).getNodeId())
                        .thenCompose(node -> node.async().sunsubscribe(entry.getKey()));
            }
        }
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

    private RedisClusterNode owner(String channel) {
        RedisClusterNode owner = connection.getPartitions().getPartitionBySlot(SlotHash.getSlot(channel));
        if (owner == null) {
            throw new RedisException("no server of the cluster has the slot of the resource");
        }
        return owner;
    }

    private void subscribe(String channel, RedisClusterNode owner, CompletableFuture<Void> ready) {
        var unused = connection
                .getConnectionAsync(owner.getNodeId())
                .thenCompose(node -> node.async().ssubscribe(channel))
                .whenComplete((done, failure) -> {
                    if (failure == null) {
                        ready.complete(null);
                    } else {
                        onRefused(channel, failure, ready);
                    }
                });
    }

    /** The view of the cluster may be old: then the server says who has the slot now. */
    private void onRefused(String channel, Throwable failure, CompletableFuture<Void> ready) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        String said = String.valueOf(cause.getMessage());
        if (!said.startsWith("MOVED ") || closed) {
            ready.completeExceptionally(cause);
            return;
        }
        String address = said.substring(said.lastIndexOf(' ') + 1);
        int colon = address.lastIndexOf(':');
        RedisClusterNode next = connection
                .getPartitions()
                .getPartition(address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)));
        if (next == null) {
            ready.completeExceptionally(cause);
        } else {
            subscribe(channel, next, ready);
        }
    }

    @Override
    public void smessage(RedisClusterNode from, String channel, String text) {
        mail.message(text);
    }

    @Override
    public void sunsubscribed(RedisClusterNode from, String channel, long count) {
        if (!closed) {
            // Not on this thread: it is the one that would have to receive the answer.
            connection.getResources().eventExecutorGroup().execute(() -> renew(channel));
        }
    }

    private void renew(String channel) {
        CompletableFuture<Void> ready = new CompletableFuture<>();
        guard.lock();
        try {
            Subscription subscription = subscriptions.get(channel);
            if (subscription == null || closed) {
                return;
            }
            subscription.ready = ready;
            subscribe(channel, owner(channel), ready);
        } finally {
            guard.unlock();
        }
        var unused = ready.whenComplete((done, failure) -> {
            if (failure == null) {
                mail.missed();
            } else if (!closed) {
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
        connection.close();
    }
}
