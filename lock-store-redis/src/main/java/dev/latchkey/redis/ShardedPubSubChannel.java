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
 * Sharded subscriptions in a cluster: one for each resource somebody waits for, at the server that has its slot, over one
 * connection for each server. They are kept for a while after the last wait.
 *
 * <p>When a slot moves, its old server ends the subscription; it is made anew at the next, and then all who wait ask. A
 * server that has become a replica, or is gone, does not: whoever waits looks now and then.
 */
final class ShardedPubSubChannel extends RedisClusterPubSubAdapter<String, String> implements NotificationChannel {

    private static final int MOST_IDLE = 256;
    private static final long RETRY_MILLIS = 100;

    /** How many listen, and the state of the subscription; guarded by the guard. */
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
    private final MessageHandler mail;
    private final ReentrantLock guard = new ReentrantLock();
    private final Map<String, Subscription> subscriptions = new LinkedHashMap<>(16, 0.75f, true);
    private volatile boolean closed;

    ShardedPubSubChannel(
            StatefulRedisClusterPubSubConnection<String, String> connection,
            KeyNames names,
            String id,
            MessageHandler mail) {
        this.connection = connection;
        this.shards = new ShardSubscriptions(connection);
        this.names = names;
        this.id = id;
        this.mail = mail;
        connection.setNodeMessagePropagation(true);
        connection.addListener(this);
    }

    @Override
    public Optional<GrantMessage> ready(String resource) {
        guard.lock();
        try {
            Subscription subscription = subscriptions.get(names.channel(resource, id));
            if (subscription == null || !subscription.isReady()) {
                return Optional.empty();
            }
            subscription.listeners++;
            return Optional.of(GrantMessage.SPUBLISH);
        } finally {
            guard.unlock();
        }
    }

    @Override
    public CompletableFuture<GrantMessage> listen(String resource) {
        String channel = names.channel(resource, id);
        CompletableFuture<String> ready = join(channel);
        return ready.handle((done, failure) -> {
            if (failure == null) {
                return GrantMessage.SPUBLISH;
            }
            forget(channel, ready);
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
                dropIdle();
            }
            subscription.listeners++;
            return subscription.ready;
        } finally {
            guard.unlock();
        }
    }

    private void forget(String channel, CompletableFuture<String> failed) {
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
                var unused = entry.getValue().ready.thenAccept(server -> shards.unsubscribe(entry.getKey(), server));
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
    public void check(String resource) {
        String channel = names.channel(resource, id);
        String left;
        guard.lock();
        try {
            Subscription subscription = subscriptions.get(channel);
            String known = shards.known(channel);
            if (subscription == null || !subscription.isReady() || known == null || known.equals(subscription.known)) {
                // Where the driver has heard nothing new, the servers may have said better who has the slot.
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
        mail.message(text);
    }

    /** Again: after a connection was lost, or at another server. */
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
            mail.missed();
        }
    }

    @Override
    public void sunsubscribed(@Nullable RedisClusterNode from, String channel, long count) {
        guard.lock();
        try {
            Subscription subscription = subscriptions.get(channel);
            // No server any more if it has left the cluster.
            boolean isOld = from != null && subscription != null && !subscription.isAt(from.getNodeId());
            if (closed || subscription == null || isOld) {
                return;
            }
        } finally {
            guard.unlock();
        }
        // Not on this thread: it is the one that would have to receive the answer.
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
