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
        private CompletableFuture<Void> ready;

        Subscription(CompletableFuture<Void> ready) {
            this.ready = ready;
        }
    }

    private final StatefulRedisClusterPubSubConnection<String, String> connection;
    private final Shards shards;
    private final Names names;
    private final String id;
    private final Mail mail;
    private final ReentrantLock guard = new ReentrantLock();
    private final Map<String, Subscription> subscriptions = new LinkedHashMap<>(16, 0.75f, true);
    private volatile boolean closed;

    ShardedInbox(StatefulRedisClusterPubSubConnection<String, String> connection, Names names, String id, Mail mail) {
        this.connection = connection;
        this.shards = new Shards(connection);
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
    public CompletableFuture<Push> listen(String resource) {
        String channel = names.channel(resource, id);
        CompletableFuture<Void> ready = join(channel);
        return ready.handle((done, failure) -> {
            if (failure == null) {
                return Push.SPUBLISH;
            }
            forget(channel, ready);
            throw new CompletionException(failure);
        });
    }

    private CompletableFuture<Void> join(String channel) {
        guard.lock();
        try {
            Subscription subscription = subscriptions.get(channel);
            if (subscription == null) {
                subscription = new Subscription(shards.subscribe(channel));
                subscriptions.put(channel, subscription);
                dropIdle();
            }
            subscription.listeners++;
            return subscription.ready;
        } finally {
            guard.unlock();
        }
    }

    private void forget(String channel, CompletableFuture<Void> failed) {
        guard.lock();
        try {
            subscriptions.computeIfPresent(
                    channel, (name, subscription) -> subscription.ready == failed ? null : subscription);
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
                shards.unsubscribe(entry.getKey());
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
        CompletableFuture<Void> ready;
        guard.lock();
        try {
            Subscription subscription = subscriptions.get(channel);
            if (subscription == null || closed) {
                return;
            }
            ready = shards.subscribe(channel);
            subscription.ready = ready;
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
