package dev.latchkey.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.dynamodb.DynamoDbStore;
import dev.latchkey.etcd.EtcdStore;
import dev.latchkey.flock.FlockStore;
import dev.latchkey.jdbc.JdbcStore;
import dev.latchkey.memcached.MemcachedStore;
import dev.latchkey.mongodb.MongoDbStore;
import dev.latchkey.mysql.MySqlLockStore;
import dev.latchkey.postgres.PostgresAdvisoryStore;
import dev.latchkey.redis.RedisStore;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.ProcessBound;
import dev.latchkey.spi.RecallableStore;
import dev.latchkey.spi.SemaphoreStore;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.spi.UnfencedStore;
import dev.latchkey.store.InMemoryStore;
import dev.latchkey.zookeeper.ZooKeeperStore;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The table of docs/which-store.md says what the classes of the stores say. */
class SupportTableIT {

    private static final Map<String, Class<? extends PersistingStore>> STORES = Map.ofEntries(
            Map.entry("in-memory", InMemoryStore.class),
            Map.entry("redis", RedisStore.class),
            Map.entry("jdbc", JdbcStore.class),
            Map.entry("mongodb", MongoDbStore.class),
            Map.entry("etcd", EtcdStore.class),
            Map.entry("dynamodb", DynamoDbStore.class),
            Map.entry("memcached", MemcachedStore.class),
            Map.entry("zookeeper", ZooKeeperStore.class),
            Map.entry("postgres-advisory", PostgresAdvisoryStore.class),
            Map.entry("mysql", MySqlLockStore.class),
            Map.entry("flock", FlockStore.class));

    @Test
    void givenTheTableOfWhatStoresSupport_thenItSaysWhatTheyAre() throws IOException {
        assertThat(rows())
                .containsExactlyInAnyOrderElementsOf(STORES.entrySet().stream()
                        .map(store -> row(store.getKey(), store.getValue()))
                        .toList());
    }

    private static List<String> rows() throws IOException {
        try (Stream<String> lines = Files.lines(Documents.ROOT.resolve("docs/which-store.md"))) {
            return lines.dropWhile(line -> !line.equals("## What each store supports"))
                    .filter(line -> line.startsWith("| `"))
                    .toList();
        }
    }

    private static String row(String name, Class<? extends PersistingStore> store) {
        // Which database it is, a JDBC store finds out when it connects.
        String sticky = store == JdbcStore.class ? "on PostgreSQL" : yes(RecallableStore.class.isAssignableFrom(store));
        return "| `"
                + String.join(
                        " | ",
                        name + "`",
                        yes(ExpiringStore.class.isAssignableFrom(store)),
                        yes(!UnfencedStore.class.isAssignableFrom(store)),
                        yes(SharedStore.class.isAssignableFrom(store)),
                        yes(!ProcessBound.class.isAssignableFrom(store)),
                        yes(SemaphoreStore.class.isAssignableFrom(store)),
                        sticky)
                + " |";
    }

    private static String yes(boolean holds) {
        return holds ? "yes" : "no";
    }
}
