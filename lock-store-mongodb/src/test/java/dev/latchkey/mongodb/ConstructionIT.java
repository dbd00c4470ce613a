package dev.latchkey.mongodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import dev.latchkey.Key;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.MongoDbServer;
import dev.latchkey.testkit.Requests;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What a store is made from, where it then keeps its locks, and what it closes. */
class ConstructionIT {

    private static MongoDbServer server;
    private static MongoClient client;
    private static MongoDatabase database;

    @BeforeAll
    static void open() {
        server = MongoDbServer.start();
        client = MongoClients.create(server.uri());
        database = client.getDatabase("construction");
    }

    @AfterAll
    static void close() {
        client.close();
        server.close();
    }

    @Test
    void givenADatabaseOrAClient_whenUsed_thenThereAndTheClientStaysOpen() {
        assertHoldsIn(MongoDbStore.builder(database).collection("c").build(), "construction", "c");
        assertHoldsIn(
                MongoDbStore.builder(client).database("other").collection("d").build(), "other", "d");

        assertThatCode(() -> database.runCommand(new Document("ping", 1))).doesNotThrowAnyException();
    }

    @Test
    void givenAUri_whenItNamesThem_thenThoseCountAndNotTheOptions() {
        String uri = server.dsn("from_uri");

        assertHoldsIn(
                MongoDbStore.builder(uri)
                        .database("option")
                        .collection("option")
                        .build(),
                "latchkey_test",
                "from_uri");
    }

    @Test
    void givenAUri_whenItNamesNone_thenTheOptionsCount() {
        assertHoldsIn(
                MongoDbStore.builder(server.uri())
                        .database("option")
                        .collection("option")
                        .build(),
                "option",
                "option");
    }

    /** F26 of the catalogue: it failed unless something had been saved before. */
    @Test
    void givenAUri_whenAskedBeforeAnythingIsSaved_thenNothing() {
        try (MongoDbStore store = MongoDbStore.builder(server.dsn("unused")).build()) {
            assertThat(store.find(Key.of("a"))).isEmpty();
            assertThat(store.holders("a")).isEmpty();
            assertThat(store.delete(Key.of("a"))).isFalse();
        }
    }

    @Test
    void givenNoDatabaseOrCollection_whenBuilt_thenIllegalArgumentThatSaysWhatIsMissing() {
        assertRefused(MongoDbStore.builder(client).collection("a"), "database(");
        assertRefused(MongoDbStore.builder(client).database("a"), "collection(");
        assertRefused(MongoDbStore.builder(database), "collection(");
        assertRefused(MongoDbStore.builder("mongodb://localhost/?collection=a"), "names no database");
        assertRefused(MongoDbStore.builder("mongodb://localhost/a"), "?collection=name");
        assertThatThrownBy(() -> LockFactory.connect("mongodb://localhost/a"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void givenWhatIsKnown_whenNamedAgain_thenIllegalArgument() {
        assertRefused(MongoDbStore.builder(database).database("b").collection("c"), "\"b\"");
    }

    @Test
    void givenBadOptions_whenTold_thenIllegalArgument() {
        MongoDbStore.Builder builder = MongoDbStore.builder(database).collection("a");

        assertThatThrownBy(() -> builder.writeConcern(WriteConcern.UNACKNOWLEDGED))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("W1");
        assertThatThrownBy(() -> builder.retention(Duration.ofSeconds(59)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PT1M");
    }

    /** What a majority has may be older than what W1 has just written. */
    @Test
    void givenAWeakerWriteConcern_whenLookedAt_thenNotOnlyAtWhatAMajorityHas() {
        assertReads(WriteConcern.W1, "local");
        assertReads(WriteConcern.ACKNOWLEDGED, "local");
        assertReads(WriteConcern.MAJORITY, "majority");
    }

    private static void assertReads(WriteConcern writeConcern, String level) {
        Counting commands = new Counting();
        try (MongoClient counted = commands.client(server.uri());
                MongoDbStore store = MongoDbStore.builder(counted)
                        .database("construction")
                        .collection("concerns")
                        .writeConcern(writeConcern)
                        .build()) {
            assertThat(store.find(Key.of("a"))).isEmpty();
            assertThat(store.indexes(List.of("a"))).isEmpty();

            assertThat(Stream.of("aggregate", "find").map(commands::sent))
                    .allSatisfy(sent -> assertThat(sent)
                            .singleElement()
                            .extracting(command -> command.getDocument("readConcern"))
                            .isEqualTo(new BsonDocument("level", new BsonString(level))));
        }
    }

    /** C25: it read like a server that is not there. The embedded server knows no users, so that each is wrong. */
    @Test
    void givenWrongCredentials_whenAcquired_thenDeniedWithoutThePassword() {
        String dsn = server.dsn("denied").replace("mongodb://", "mongodb://user:s3cret@");
        try (LockFactory locks = LockFactory.connect(dsn)) {
            assertThatThrownBy(() -> locks.createLock("a").tryAcquire())
                    .isInstanceOfSatisfying(LockStorageException.class, failure -> {
                        assertThat(failure.failure()).isEqualTo(LockStorageException.Failure.DENIED);
                        assertThat(failure).hasMessageNotContaining("s3cret");
                    });
        }
    }

    /** B27: connecting took its time from the first lease. */
    @Test
    void givenAFreshClient_whenFirstAcquired_thenItIsConnectedBeforeTheLeaseIsCounted() {
        Counting commands = new Counting();
        try (MongoClient counted = commands.client(server.uri());
                MongoDbStore store = MongoDbStore.builder(counted)
                        .database("construction")
                        .collection("fresh")
                        .build()) {
            Requests.granted(store.save(Requests.exclusive(Key.of("a"))));
            Requests.granted(store.save(Requests.exclusive(Key.of("b"))));
        }
        assertThat(commands.sent()).containsExactly("hello", "findAndModify", "findAndModify");
    }

    @Test
    void givenADsn_whenConnected_thenTheFactoryOwnsItAll() throws Exception {
        try (LockFactory locks = LockFactory.connect(server.dsn("dsn"))) {
            assertThat(locks.createLock("a").acquire().isAcquired()).isTrue();
        }
    }

    private static void assertHoldsIn(MongoDbStore store, String in, String collection) {
        try (store) {
            Key key = Key.of("report");
            Requests.granted(store.save(Requests.exclusive(key)));

            Document document =
                    client.getDatabase(in).getCollection(collection).find().first();

            assertThat(document).containsEntry(Fields.RESOURCE, "report").containsEntry(Fields.TOKEN, key.token());
        }
    }

    private static void assertRefused(MongoDbStore.Builder builder, String part) {
        assertThatThrownBy(builder::build)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(part);
    }
}
