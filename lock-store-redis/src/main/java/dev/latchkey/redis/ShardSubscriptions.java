package dev.latchkey.redis;

import io.lettuce.core.RedisException;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.cluster.pubsub.StatefulRedisClusterPubSubConnection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** Subscribes to sharded channels, each at the server that has its slot. */
final class ShardSubscriptions {

    /** Servers that disagree about a slot may each name the other one. */
    private static final int MOST_HOPS = 5;

    private final StatefulRedisClusterPubSubConnection<String, String> connection;

    ShardSubscriptions(StatefulRedisClusterPubSubConnection<String, String> connection) {
        this.connection = connection;
    }

    /** Completes with the id of the server when the subscription is confirmed. */
    CompletableFuture<String> subscribe(String channel) {
        try {
            return subscribe(channel, owner(channel), MOST_HOPS);
        } catch (RedisException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Not awaited, and failures are ignored: nobody handles the messages any more. */
    void unsubscribe(String channel, String server) {
        try {
            var unused = connection
                    .getConnectionAsync(server)
                    .thenCompose(node -> node.async().sunsubscribe(channel));
        } catch (RedisException e) {
            // It has left the cluster, and the subscription went with it.
        }
    }

    /** Returns the id of the server that has the slot, as far as the driver knows, which may learn late of a change; null if it knows none. */
    @Nullable String known(String channel) {
        RedisClusterNode owner = connection.getPartitions().getPartitionBySlot(SlotHash.getSlot(channel));
        return owner == null ? null : owner.getNodeId();
    }

    private RedisClusterNode owner(String channel) {
        RedisClusterNode owner = connection.getPartitions().getPartitionBySlot(SlotHash.getSlot(channel));
        if (owner == null) {
            throw new RedisException("no server of the cluster has the slot of the resource");
        }
        return owner;
    }

    private CompletableFuture<String> subscribe(String channel, RedisClusterNode owner, int hops) {
        return connection
                .getConnectionAsync(owner.getNodeId())
                .thenCompose(node -> node.async().ssubscribe(channel))
                .thenApply(done -> owner.getNodeId())
                .exceptionallyCompose(failure -> subscribe(channel, movedTo(failure, hops), hops - 1));
    }

    /** If the driver's view of the cluster is old, the server says which server has the slot. */
    private RedisClusterNode movedTo(Throwable failure, int hops) {
        Throwable cause = Failures.unwrapped(failure);
        String said = String.valueOf(cause.getMessage());
        if (hops > 0 && said.startsWith("MOVED ")) {
            String address = said.substring(said.lastIndexOf(' ') + 1);
            int colon = address.lastIndexOf(':');
            RedisClusterNode next = connection
                    .getPartitions()
                    .getPartition(address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)));
            if (next != null) {
                return next;
            }
        }
        throw cause instanceof RuntimeException known ? known : new CompletionException(cause);
    }
}
