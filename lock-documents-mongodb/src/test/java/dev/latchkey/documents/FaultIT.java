package dev.latchkey.documents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Updates;
import dev.latchkey.servers.MongoDbServer;
import dev.latchkey.testkit.FaultProxy;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A network that breaks between a request and its reply. What it cannot say is never called a conflict. */
class FaultIT {

    private static final DocumentLockMode WRITE = DocumentLockMode.PESSIMISTIC_WRITE;
    private static MongoDbServer server;
    private static MongoClient directClient;

    private final String name = "faults" + System.nanoTime();
    private FaultProxy proxy;
    private MongoClient client;
    private VersionedCollection<Document> posts;
    private VersionedCollection<Document> direct;

    @BeforeAll
    static void start() {
        server = MongoDbServer.start();
        directClient = MongoClients.create(server.uri());
    }

    @AfterAll
    static void stop() {
        directClient.close();
        server.close();
    }

    @BeforeEach
    void open() {
        proxy = FaultProxy.to(server.address());
        client =
                MongoClients.create("mongodb://" + proxy.address() + "/?directConnection=true&serverSelectionTimeoutMS="
                        + TimeLimits.scaled(Duration.ofSeconds(3)).toMillis());
        posts = posts(client);
        direct = posts(directClient);
    }

    @AfterEach
    void close() {
        client.close();
        proxy.close();
    }

    private VersionedCollection<Document> posts(MongoClient through) {
        return VersionedCollection.of(through.getDatabase(name).getCollection("posts"));
    }

    private static DocumentLocks<Document> locks(VersionedCollection<Document> on) {
        return new DocumentLocks<>(on, Duration.ofMinutes(5));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void givenTheRequestOrTheReplyOfALockIsLost_whenTheConnectionIsCut_thenFailureAndNothingStaysLocked(
            boolean isReply) {
        direct.insert(new Document("_id", "lost-lock"));
        CompletableFuture<Void> lost = isReply ? proxy.loseReplyTo("lost-lock") : proxy.loseRequest("lost-lock");

        assertThatThrownBy(() -> locks(posts).find("lost-lock", WRITE)).isInstanceOf(MongoException.class);

        assertThat(lost).isDone();
        assertThat(locks(direct).find("lost-lock", WRITE)).isPresent();
    }

    @Test
    void givenTheReplyToAWriteIsLost_whenWrittenAgain_thenItIsNotWrittenTwice() {
        direct.insert(new Document("_id", "lost-write"));
        CompletableFuture<Void> lost = proxy.loseReplyTo("lost-write");

        assertThatThrownBy(() -> posts.update("lost-write", Version.of(1), Updates.inc("n", 1)))
                .isInstanceOf(MongoException.class);

        assertThat(lost).isDone();
        assertThatThrownBy(() -> posts.update("lost-write", Version.of(1), Updates.inc("n", 1)))
                .isInstanceOf(OptimisticLockException.class);
        assertThat(direct.find("lost-write").orElseThrow())
                .containsEntry("n", 1)
                .containsEntry("version", 2);
    }

    /** The server has freed the lock; whoever took it since must not lose it by the first one's closing. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void givenTheRequestOrTheReplyOfALastWriteIsLost_whenClosed_thenGivenUpAndARivalIsLeftAlone(boolean isReply) {
        direct.insert(new Document("_id", "lost-save"));
        LockedDocument<Document> held = locks(posts).find("lost-save", WRITE).orElseThrow();
        CompletableFuture<Void> lost = isReply ? proxy.loseReplyTo("lost-save") : proxy.loseRequest("lost-save");

        assertThatThrownBy(() -> held.saveAndRelease(held.document().append("n", 1)))
                .isInstanceOf(MongoException.class);

        assertThat(lost).isDone();
        assertThat(held.mode()).isEqualTo(DocumentLockMode.NONE);
        assertThat(held.remainingLifetime()).isZero();
        if (isReply) {
            LockedDocument<Document> rival =
                    locks(direct).find("lost-save", WRITE).orElseThrow();
            assertThat(rival.document()).containsEntry("n", 1).containsEntry("version", 2);
            assertThatCode(held::close).doesNotThrowAnyException();
            assertThat(rival.release()).as("left alone").isTrue();
        } else {
            assertThatCode(held::close).doesNotThrowAnyException();
            assertThat(locks(direct).find("lost-save", WRITE).orElseThrow().document())
                    .doesNotContainKey("n");
        }
    }

    @Test
    void givenLockThatCannotBeReleased_whenClosed_thenWhatWentWrongBeforeIsNotHidden() {
        direct.insert(new Document("_id", "unreachable"));

        assertThatThrownBy(() -> {
                    try (LockedDocument<Document> held =
                            locks(posts).find("unreachable", WRITE).orElseThrow()) {
                        proxy.refuse();
                        throw new IllegalArgumentException("the body, of " + held);
                    }
                })
                .isInstanceOf(IllegalArgumentException.class)
                .hasNoSuppressedExceptions();
    }

    @Test
    void givenServerThatCannotBeReached_whenWaitedFor_thenFailureAndNoConflict() {
        proxy.refuse();
        try (MongoClient hasty = MongoClients.create(
                "mongodb://" + proxy.address() + "/?directConnection=true&serverSelectionTimeoutMS=500")) {
            VersionedCollection<Document> unreachable = posts(hasty);

            assertThatThrownBy(() -> locks(unreachable).find(1, WRITE, Duration.ofSeconds(30)))
                    .isInstanceOf(MongoException.class);
            assertThatThrownBy(() -> unreachable.addOrUpdate(1, Document::new, document -> document))
                    .isInstanceOf(MongoException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"pending", "lost-alice", "applied", "done"})
    void givenTheReplyToAnyPartOfATransactionIsLost_whenRecovered_thenAllOrNothing(String part) {
        MongoDatabase database = directClient.getDatabase(name);
        database.getCollection("accounts")
                .insertMany(List.of(
                        new Document("_id", "lost-alice").append("balance", 100L),
                        new Document("_id", "bob").append("balance", 100L)));
        CompletableFuture<Void> lost = proxy.loseReplyTo(part);
        TwoPhaseTransactions faulty = transfers(client.getDatabase(name));

        assertThatThrownBy(() -> faulty.run(List.of(
                        TransactionStep.increment("accounts", "lost-alice", "balance", -30),
                        TransactionStep.increment("accounts", "bob", "balance", 30))))
                .isInstanceOf(MongoException.class);

        assertThat(lost).isDone();
        Awaitility.await().atMost(TimeLimits.LIMIT).untilAsserted(() -> {
            assertThatCode(transfers(database)::recover).doesNotThrowAnyException();
            assertThat(database.getCollection("transactions").find().first()).containsEntry("state", "done");
        });
        assertThat(database.getCollection("accounts").find().map(account -> account.getLong("balance")))
                .containsExactlyInAnyOrder(70L, 130L);
    }

    private static TwoPhaseTransactions transfers(MongoDatabase on) {
        return TwoPhaseTransactions.builder(on).lease(Duration.ofMillis(1)).build();
    }
}
