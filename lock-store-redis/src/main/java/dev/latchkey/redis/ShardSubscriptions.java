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

    private final StatefulRedisClusterPubSubConnection<String, String> connection;

    ShardSubscriptions(StatefulRedisClusterPubSubConnection<String, String> connection) {
        this.connection = connection;
    }

    /** Completes when the subscription is confirmed, with the server's id. */
    CompletableFuture<String> subscribe(String channel) {
        try {
            return subscribe(channel, owner(channel));
        } catch (RedisException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Not awaited, and without a word if it fails: what still comes is for nobody. */
    void unsubscribe(String channel, String server) {
        try {
            var unused = connection
                    .getConnectionAsync(server)
                    .thenCompose(node -> node.async().sunsubscribe(channel));
        } catch (RedisException e) {
            // It has left the cluster, and the subscription went with it.
        }
    }

    /** The server that has the slot as far as the driver knows, which may be late to hear of a change; null if it knows none. */
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

    private CompletableFuture<String> subscribe(String channel, RedisClusterNode owner) {
        return connection
                .getConnectionAsync(owner.getNodeId())
                .thenCompose(node -> node.async().ssubscribe(channel))
                .thenApply(done -> owner.getNodeId())
                .exceptionallyCompose(failure -> subscribe(channel, movedTo(failure)));
    }

    /** The view of the cluster may be old: then the server says who has the slot now. */
    private RedisClusterNode movedTo(Throwable failure) {
        Throwable cause = Failures.unwrapped(failure);
        String said = String.valueOf(cause.getMessage());
        if (said.startsWith("MOVED ")) {
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
