package dev.latchkey.redis;

import static dev.latchkey.testkit.Requests.exclusive;
import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.Key;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.spi.ListedResource;
import dev.latchkey.spi.ListingStore;
import dev.latchkey.spi.ResourcePage;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What is held throughout is listed, whatever happens to the server meanwhile. */
class KeyspaceIT {

    private static final int OTHERS = 200_000;
    private static final int ROUNDS = 3;

    @Test
    void givenTheServerIsRestarted_whenListedMeanwhile_thenAllThatIsHeldIsListed() {
        try (RedisServer server = RedisServer.startDurable();
                RedisStore store = (RedisStore) new RedisStore.Provider().open(server.dsn() + "?timeout=20s")) {
            // Keys of others, which the scan has to pass.
            server.call(
                    "EVAL",
                    "for i = 1, ARGV[1] do redis.call('SET', 'other:' .. i, '') end return 1",
                    "0",
                    Integer.toString(OTHERS));
            List<String> held =
                    IntStream.range(0, 500).mapToObj(i -> "held " + i).toList();
            for (String name : held) {
                var unused = store.save(exclusive(Key.of(name), Duration.ofMinutes(10)));
            }
            for (int round = 0; round < ROUNDS; round++) {
                CompletableFuture<List<String>> listing = CompletableFuture.supplyAsync(() -> names(store));
                server.kill();
                server.restart();

                assertThat(listing.join()).containsExactlyInAnyOrderElementsOf(held);
            }
        }
    }

    private static List<String> names(RedisStore store) {
        ResourcePage page = store.list("held", Optional.empty(), ListingStore.MAX_PAGE);
        return page.resources().stream().map(ListedResource::resource).toList();
    }
}
