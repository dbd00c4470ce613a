package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.servers.RedisServer;
import dev.latchkey.spi.KeptHolds;
import dev.latchkey.testkit.TimeLimits;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.pubsub.StatefulRedisClusterPubSubConnection;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Subscriptions to the servers of a cluster, some of which refuse them. */
class ShardedPubSubIT extends OnACluster {

    private static final KeyNames NAMES = new KeyNames("lock:");

    private final String resource = UUID.randomUUID().toString();
    private final String state = NAMES.keyText(resource);
    private RedisClusterClient client;
    private StatefulRedisClusterPubSubConnection<String, String> connection;
    private WaiterRegistry waiters;

    @BeforeEach
    void connect() {
        List<RedisURI> addresses = cluster.masters().stream()
                .map(master -> RedisURI.create(master.dsn()))
                .toList();
        client = RedisClusterClient.create(addresses);
        connection = client.connectPubSub();
        Failures failures = new Failures("the cluster", NAMES);
        waiters = new WaiterRegistry(
                new ScriptRunner(Connections.of(client), failures, Duration.ofSeconds(3)),
                "1",
                NAMES,
                new ForcedReleases(NAMES),
                new KeptHolds());
    }

    @AfterEach
    void disconnect() {
        client.shutdown(0, 2, TimeUnit.SECONDS);
    }

    /** One waiter came while the slot moved and could not subscribe, and from then on nobody was notified any more. */
    @Test
    void givenOneListens_whenAnotherCannotAfterTheSlotHasMoved_thenTheFirstIsSubscribedAsSoonAsItMay() {
        ShardedPubSubChannel channel = new ShardedPubSubChannel(connection, NAMES, waiters);
        channel.listen(resource).join();
        RedisServer target = another();
        target.call("ACL", "SETUSER", "default", "resetchannels");
        cluster.move(state, target);
        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> isRefused(channel));

        target.call("ACL", "SETUSER", "default", "allchannels");

        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> subscribers(target) == 1);
        channel.close();
    }

    /** The newest of many subscriptions was taken for one that nobody used. */
    @Test
    void givenManyResourcesAreWaitedFor_whenOneMoreIs_thenItIsSubscribedToAsWell() {
        ShardedPubSubChannel channel = new ShardedPubSubChannel(connection, NAMES, waiters);
        List<String> all = IntStream.range(0, 300).mapToObj(i -> "many-" + i).toList();
        List<CompletableFuture<NotificationChannel.Push>> subscribed =
                all.stream().map(channel::listen).toList();
        subscribed.forEach(CompletableFuture::join);

        assertThat(all).allMatch(one -> channel.ready(one).isPresent());
        channel.close();
    }

    private boolean isRefused(ShardedPubSubChannel channel) {
        try {
            channel.listen(resource).join();
            channel.leave(resource);
            return false;
        } catch (CompletionException e) {
            return true;
        }
    }

    /** Two servers that each took the other one for the owner were asked in turns for ever. */
    @Test
    void givenEachServerNamesTheOther_whenSubscribed_thenItFails() {
        RedisServer owner = cluster.masterOf(state);
        String slot = owner.text("CLUSTER", "KEYSLOT", state);
        owner.call("CLUSTER", "SETSLOT", slot, "NODE", another().text("CLUSTER", "MYID"));
        try {
            CompletableFuture<String> subscribed =
                    new ShardSubscriptions(connection).subscribe(NAMES.channel(resource, waiters.id()));

            assertThat(subscribed)
                    .failsWithin(TimeLimits.LIMIT)
                    .withThrowableOfType(ExecutionException.class)
                    .withMessageContaining("MOVED");
        } finally {
            // Else the slot would be nobody's for the other tests.
            owner.call("CLUSTER", "SETSLOT", slot, "NODE", owner.text("CLUSTER", "MYID"));
        }
    }

    private RedisServer another() {
        RedisServer owner = cluster.masterOf(state);
        return cluster.masters().stream()
                .filter(master -> master != owner)
                .findFirst()
                .orElseThrow();
    }

    private long subscribers(RedisServer at) {
        Object counted = at.call("PUBSUB", "SHARDNUMSUB", NAMES.channel(resource, waiters.id()));
        return counted instanceof List<?> list ? (Long) list.get(1) : 0;
    }
}
