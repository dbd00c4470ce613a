package dev.latchkey.mongodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.Indexes;
import com.mongodb.client.model.Updates;
import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.MongoDbServer;
import dev.latchkey.spi.StateIndex;
import dev.latchkey.testkit.Requests;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Collections that others have changed, or use as well. */
class ForeignIT {

    private static MongoDbServer server;
    private static MongoClient client;

    @BeforeAll
    static void open() {
        server = MongoDbServer.start();
        client = MongoClients.create(server.uri());
    }

    @AfterAll
    static void close() {
        client.close();
        server.close();
    }

    private static MongoCollection<Document> collection(String name) {
        MongoCollection<Document> collection = client.getDatabase("foreign").getCollection(name);
        collection.drop();
        return collection;
    }

    private static MongoDbStore store(MongoCollection<Document> collection) {
        return MongoDbStore.builder(client.getDatabase(collection.getNamespace().getDatabaseName()))
                .collection(collection.getNamespace().getCollectionName())
                .build();
    }

    /** Documents as other libraries leave them, that look held, ended or like nothing. */
    static Stream<Document> documents() {
        Date future = Date.from(Instant.now().plusSeconds(3_600));
        Date past = Date.from(Instant.now().minusSeconds(3_600));
        return Stream.of(
                new Document("_id", "report").append("amount", 42),
                new Document("_id", "report").append("token", "another").append("expires_at", future),
                new Document("_id", "report").append("token", "another").append("expires_at", past),
                new Document("_id", "report").append("lockUntil", past).append("lockedBy", "somebody"));
    }

    @ParameterizedTest
    @MethodSource("documents")
    void givenADocumentOfAnother_whenAcquired_thenFailureAndItIsAsItWas(Document document) {
        MongoCollection<Document> collection = collection("documents");
        collection.insertOne(document);
        try (LockFactory locks = new LockFactory(store(collection))) {
            Lock lock = locks.createLock("report");

            assertThatThrownBy(lock::tryAcquire)
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("foreign.documents")
                    .hasMessageContaining("of their own");
            assertThatThrownBy(lock::tryAcquireShared).isInstanceOf(LockStorageException.class);

            assertThat(collection.find().first()).isEqualTo(document);
        }
    }

    @Test
    void givenADocumentOfAnotherInTheFormOfAStateIndex_whenLookedUp_thenFailure() {
        MongoCollection<Document> collection = collection("indexes");
        collection.insertOne(new Document("_id", new Document(Fields.INDEX_OF, "report")).append("amount", 42));
        try (MongoDbStore store = store(collection)) {
            assertThatThrownBy(() -> store.indexes(List.of("report")))
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("foreign.indexes")
                    .hasMessageContaining("of their own");
        }
    }

    /** Of a lock that somebody holds, one field as hands may leave it. */
    static Stream<Bson> edits() {
        return Stream.of(
                Updates.set(Fields.FENCING_TOKEN, 7),
                Updates.set(Fields.HOLDER, null),
                Updates.set(Fields.EXPIRES_AT, 4_000_000_000_000L),
                Updates.set(Fields.PROMOTER, new Document(Fields.TOKEN, "another")),
                Updates.set(Fields.READERS, List.of(new Document(Fields.TOKEN, "another"))),
                Updates.unset(Fields.REQUEST),
                Updates.unset(Fields.RENEWED_AT),
                Updates.unset(Fields.READERS));
    }

    /** C31: an exception of the driver's parser came through, and the lock was lost as if nobody had answered. */
    @ParameterizedTest
    @MethodSource("edits")
    void givenADocumentEditedByHand_whenLookedAtOrTaken_thenFailureThatSaysSo(Bson edit) {
        MongoCollection<Document> collection = collection("edited");
        try (MongoDbStore store = store(collection)) {
            Key key = Key.of("report");
            Requests.granted(store.save(Requests.exclusive(key)));
            collection.updateOne(Filters.eq("report"), edit);

            for (ThrowingCallable call : List.<ThrowingCallable>of(
                    () -> store.find(key),
                    () -> store.holders("report"),
                    () -> store.save(Requests.exclusive(Key.of("report"))))) {
                assertThatThrownBy(call)
                        .isInstanceOf(LockStorageException.class)
                        .hasMessageContaining("not a lock of this format");
            }
        }
    }

    /** C31: as above. */
    @Test
    void givenAStateIndexEditedByHand_whenLookedUp_thenFailureThatSaysSo() {
        MongoCollection<Document> collection = collection("edited_index");
        try (MongoDbStore store = store(collection)) {
            store.raise(Map.of("report", new StateIndex(7, 3)));
            collection.updateMany(new Document(), Updates.set(Fields.SHARED, 4));

            assertThatThrownBy(() -> store.indexes(List.of("report")))
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("not a lock of this format");
        }
    }

    /** Its retention would be over before somebody else takes the resource. */
    @Test
    void givenAStateIndex_whenLookedAt_thenNothingSaysWhenItMayGo() {
        MongoCollection<Document> collection = collection("kept");
        try (MongoDbStore store = store(collection)) {
            store.raise(Map.of("report", new StateIndex(7, 3)));
        }

        assertThat(collection.find().first())
                .isEqualTo(new Document("_id", new Document(Fields.INDEX_OF, "report"))
                        .append(Fields.EXCLUSIVE, 7L)
                        .append(Fields.SHARED, 3L)
                        .append(Fields.FORMAT, 1));
    }

    /** Only that of the _id can be a conflict, and none is here: what the server refuses is a failure. */
    @Test
    void givenAUniqueIndexOfAnother_whenTwoResourcesAreHeld_thenFailureAndNoConflict() throws Exception {
        MongoCollection<Document> collection = collection("unique");
        collection.createIndex(Indexes.ascending(Fields.HOLDER), new IndexOptions().unique(true));
        try (LockFactory locks = new LockFactory(store(collection))) {
            locks.createLock("one").acquire();

            assertThatThrownBy(() -> locks.createLock("other").tryAcquire())
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("11000")
                    .hasMessageContaining("unique index");
        }
    }

    /** F27 of the catalogue: the lock was held, and the caller was told that it failed. */
    @Test
    void givenTheIndexCannotBeCreated_whenAcquiredAndReleased_thenItIsNoFailure() throws Exception {
        MongoCollection<Document> collection = collection("conflicting");
        collection.createIndex(
                Indexes.ascending(Fields.KEPT_UNTIL), new IndexOptions().expireAfter(77L, TimeUnit.SECONDS));
        try (MongoDbStore store = store(collection);
                LockFactory locks = new LockFactory(store)) {
            for (int i = 0; i < 3; i++) {
                assertThat(locks.createLock("a").acquire().release()).isTrue();
            }

            assertThatThrownBy(store::createIndexes)
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("85");
        }
    }

    @Test
    void givenReleased_whenIndexesAreListed_thenOneThatEndsDocuments() throws Exception {
        MongoCollection<Document> collection = collection("index");
        try (LockFactory locks = new LockFactory(store(collection))) {
            locks.createLock("a").acquire().release();
        }

        List<Document> indexes = collection.listIndexes().into(new ArrayList<>());
        assertThat(indexes).anySatisfy(index -> {
            assertThat(index.get("key")).isEqualTo(new Document(Fields.KEPT_UNTIL, 1));
            assertThat(String.valueOf(index.get("expireAfterSeconds"))).isEqualTo("0");
        });
    }

    @Test
    void givenNamesThatLookLikeExpressions_whenHeld_thenTheyAreNames() throws Exception {
        try (MongoDbStore store = store(collection("names"));
                LockFactory locks = new LockFactory(store)) {
            for (String name : List.of("$$ROOT", "$token", "$$NOW", "$_id", "{$gt:''}", "a.b", "$where")) {
                Lock lock = locks.createLock(name).acquire();

                assertThat(locks.createLock(name).tryAcquire()).isFalse();
                assertThat(lock.key()).isNotEqualTo(Key.of(name));
                assertThat(lock.release()).isTrue();
            }
        }
    }
}
