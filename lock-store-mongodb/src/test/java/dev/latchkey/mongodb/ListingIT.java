package dev.latchkey.mongodb;

import static dev.latchkey.testkit.Requests.exclusive;
import static dev.latchkey.testkit.Requests.granted;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.MongoDbServer;
import dev.latchkey.spi.ListedResource;
import dev.latchkey.spi.ResourcePage;
import dev.latchkey.spi.StateIndex;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a collection contains besides the locks that are held. */
class ListingIT {

    private static final int ALL = 1_000;

    private static MongoDbServer server;
    private static MongoClient client;

    private MongoCollection<Document> collection;
    private MongoDbStore store;

    @BeforeAll
    static void start() {
        server = MongoDbServer.start();
        client = MongoClients.create(server.uri());
    }

    @AfterAll
    static void end() {
        client.close();
        server.close();
    }

    @BeforeEach
    void open() {
        collection = client.getDatabase("listing").getCollection("lock");
        store = MongoDbStore.builder(client)
                .database("listing")
                .collection("lock")
                .build();
    }

    @AfterEach
    void close() {
        store.close();
        collection.drop();
    }

    /** The name itself is nowhere. */
    @Test
    void givenANameThatIsTooLongToBeStored_whenListed_thenShortened() {
        String name = "k".repeat(600);
        hold(name);

        assertThat(names(all(""))).containsExactly(ResourceName.of(name));
        assertThat(names(all("kkk"))).containsExactly(ResourceName.of(name));
        assertThat(names(all("k".repeat(65)))).isEmpty();
    }

    @Test
    void givenStateIndexes_whenListed_thenOnlyTheLock() {
        hold("node");
        store.raise(Map.of("node", new StateIndex(1, 2), "other", new StateIndex(3, 4)));

        assertThat(names(all(""))).containsExactly("node");
    }

    /** They fill whole pages, and none of these is the last one. */
    @Test
    void givenEndedLeasesBeforeAHold_whenListedInPages_thenTheHoldIsReached() {
        for (String name : List.of("a", "b", "c", "d")) {
            Key key = Key.of(name);
            var unused = granted(store.save(exclusive(key, Duration.ofMillis(1))));
            Awaitility.await("the end of a lease")
                    .atMost(TimeLimits.LIMIT)
                    .until(() -> store.find(key).isEmpty());
        }
        hold("e");

        ResourcePage first = store.list("", Optional.empty(), 2);
        ResourcePage second = store.list("", first.next(), 2);
        ResourcePage third = store.list("", second.next(), 2);

        assertThat(first.resources()).isEmpty();
        assertThat(first.next()).contains("b");
        assertThat(second.resources()).isEmpty();
        assertThat(names(third.resources())).containsExactly("e");
        assertThat(third.next()).isEmpty();
    }

    /** A failure is never an empty list. */
    @Test
    void givenADocumentOfAnother_whenListed_thenFailureThatNamesIt() {
        collection.insertOne(
                new Document("_id", "report").append("token", "secret").append("expires_at", Date.from(Instant.now())));

        assertThatThrownBy(() -> all("re"))
                .isInstanceOf(LockStorageException.class)
                .hasMessageContaining("report")
                .hasMessageContaining("of their own")
                .hasMessageNotContaining("secret");
        assertThat(all("other")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"a,b", "x\uD7FF,x\uE000", "x\uFFFF,x\uD800\uDC00", "x\uDBFF\uDFFF,y", "\uD83D\uDD12,\uD83D\uDD13"})
    void givenAPrefix_whenItsRangeIsMade_thenItEndsAtTheNextCodePoint(String prefix, String end) {
        assertThat(Listing.end(prefix)).contains(end);
    }

    @Test
    void givenNothingOrTheLastCodePoint_whenItsRangeIsMade_thenItHasNoEnd() {
        assertThat(Listing.end("")).isEmpty();
        assertThat(Listing.end("\uDBFF\uDFFF")).isEmpty();
    }

    private void hold(String name) {
        var unused = granted(store.save(exclusive(Key.of(name))));
    }

    private List<ListedResource> all(String prefix) {
        return store.list(prefix, Optional.empty(), ALL).resources();
    }

    private static List<String> names(List<ListedResource> resources) {
        return resources.stream().map(ListedResource::resource).toList();
    }
}
