package dev.latchkey.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.ReturnDocument;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Whatever server is found does, and refuses, what MongoDB 4.2 does. */
class MongoDbServerIT {

    private static final FindOneAndUpdateOptions UPSERT =
            new FindOneAndUpdateOptions().upsert(true).returnDocument(ReturnDocument.AFTER);

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

    private static MongoCollection<Document> collection() {
        MongoCollection<Document> collection = client.getDatabase("test").getCollection("testkit");
        collection.drop();
        return collection;
    }

    private static Document set(Document fields) {
        return new Document("$replaceWith", new Document("$mergeObjects", List.of("$$ROOT", fields)));
    }

    @Test
    void givenAPipeline_whenUpserted_thenEvaluatedByTheServersClock() {
        Document after = collection()
                .findOneAndUpdate(
                        new Document("_id", "$a"),
                        List.of(set(new Document("at", "$$NOW")
                                .append("same", new Document("$eq", List.of("$$NOW", "$$NOW"))))),
                        UPSERT);

        assertThat(after).containsEntry("_id", "$a").containsEntry("same", true);
        assertThat(after.getDate("at").toInstant())
                .isBetween(Instant.now().minusSeconds(60), Instant.now().plusSeconds(60));
    }

    @Test
    void givenDataThatLooksLikeAnExpression_whenCopied_thenItIsData() {
        MongoCollection<Document> collection = collection();
        collection.insertOne(new Document("_id", "a").append("text", "$$NOW").append("list", List.of("$text")));

        Document after = collection.findOneAndUpdate(
                new Document("_id", "a"), List.of(set(new Document("copy", "$list"))), UPSERT);

        assertThat(after).containsEntry("text", "$$NOW").containsEntry("copy", List.of("$text"));
    }

    @Test
    void givenExprInAnUpsert_whenSent_thenRefused() {
        Document filter = new Document("_id", "a").append("$expr", new Document("$lte", List.of("$at", "$$NOW")));

        assertRefused(
                224, () -> collection().findOneAndUpdate(filter, new Document("$set", new Document("x", 1)), UPSERT));
    }

    /** 31022 and later versions' own codes aside: an operator of no version is refused by all. */
    @Test
    void givenAnUnknownOperator_whenSent_thenRefused() {
        Document unknown = new Document("x", new Document("$noSuchOperator", List.of(1)));

        assertRefused(
                168, () -> collection().findOneAndUpdate(new Document("_id", "a"), List.of(set(unknown)), UPSERT));
    }

    @Test
    void givenNoReplicaSet_whenWatched_thenRefused() {
        assertRefused(40573, () -> collection().watch().cursor().close());
    }

    @Test
    void givenAReplicaSet_whenADocumentChanges_thenWatchersAreTold() {
        try (MongoDbServer replicaSet = MongoDbServer.startReplicaSet();
                MongoClient watcher = MongoClients.create(replicaSet.uri())) {
            MongoCollection<Document> watched = watcher.getDatabase("test").getCollection("watched");
            watched.insertOne(new Document("_id", "before"));
            try (var changes = watched.watch().cursor()) {
                watched.findOneAndUpdate(new Document("_id", "a"), List.of(set(new Document("x", 1))), UPSERT);

                assertThat(changes.next().getDocumentKey().getString("_id").getValue())
                        .isEqualTo("a");
            }
        }
    }

    @Test
    void givenAWrongClock_whenAsked_thenItTellsTheWrongTime() {
        try (MongoDbServer behind = MongoDbServer.startWithClock(Duration.ofHours(-1));
                MongoClient other = MongoClients.create(behind.uri())) {
            Document after = other.getDatabase("test")
                    .getCollection("clock")
                    .findOneAndUpdate(new Document("_id", "a"), List.of(set(new Document("at", "$$NOW"))), UPSERT);

            assertThat(after.get("at", Date.class).toInstant())
                    .isBetween(Instant.now().minusSeconds(3_700), Instant.now().minusSeconds(3_500));
        }
    }

    @Test
    void givenKilled_whenRestartedEmpty_thenItAnswersAndItsDataIsGone() {
        try (MongoDbServer killed = MongoDbServer.start()) {
            try (MongoClient before = MongoClients.create(killed.uri())) {
                before.getDatabase("test").getCollection("a").insertOne(new Document("_id", 1));
            }

            killed.kill();
            killed.restartEmpty();

            try (MongoClient after = MongoClients.create(killed.uri())) {
                assertThat(after.getDatabase("test").getCollection("a").countDocuments())
                        .isZero();
            }
        }
    }

    private static void assertRefused(int code, Runnable command) {
        assertThatThrownBy(command::run)
                .isInstanceOfSatisfying(
                        MongoCommandException.class,
                        refusal -> assertThat(refusal.getErrorCode()).isEqualTo(code))
                .isInstanceOf(MongoException.class);
    }
}
