package dev.latchkey.documents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.TransactionOptions;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Updates;
import dev.latchkey.servers.MongoDbServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What there is on a standalone server. */
class TransactionsIT {

    private static MongoDbServer standalone;
    private static MongoClient client;

    private final List<String> done = new ArrayList<>();
    private MongoCollection<Document> stored;
    private VersionedCollection<Document> posts;
    private Transactions transactions;

    @BeforeAll
    static void start() {
        standalone = MongoDbServer.start();
        client = MongoClients.create(standalone.uri());
    }

    @AfterAll
    static void stop() {
        client.close();
        standalone.close();
    }

    @BeforeEach
    void open() {
        stored = client.getDatabase("units").getCollection("c" + System.nanoTime());
        posts = VersionedCollection.of(stored);
        transactions = new Transactions(client);
    }

    @Test
    void givenStandaloneServer_whenRun_thenItSaysWhatWouldHelpAndTheWorkIsNotCalled() {
        assertThatThrownBy(() -> transactions.run(unit -> done.add("called")))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("replica set")
                .hasMessageContaining("TwoPhaseTransactions");
        assertThat(done).isEmpty();
    }

    /** Work that closes its view, as in a transaction, gave the lock up in the middle of what it protects. */
    @Test
    void givenSingleWrites_whenTheWorkClosesItsViewOfALockedDocument_thenTheLockStays() throws InterruptedException {
        posts.insert(new Document("_id", 1));
        try (LockedDocument<Document> held = new DocumentLocks<>(posts, Duration.ofMinutes(1))
                .find(1, DocumentLockMode.PESSIMISTIC_WRITE)
                .orElseThrow()) {
            transactions.run(Transactions.Use.SINGLE_WRITES, unit -> {
                try (LockedDocument<Document> view = unit.in(held)) {
                    return view.update(Version.of(1), Updates.set("title", "new"));
                }
            });

            assertThat(held.mode()).isEqualTo(DocumentLockMode.PESSIMISTIC_WRITE);
            assertThat(held.release()).isTrue();
        }
    }

    @Test
    void givenSingleWritesByDefaultOrByCall_whenRun_thenEachIsWrittenAndHooksFollow() throws InterruptedException {
        Transactions single = new Transactions(
                client,
                Transactions.Use.SINGLE_WRITES,
                TransactionOptions.builder().build());

        String result = single.run(unit -> {
            unit.in(posts).insert(new Document("_id", 1));
            unit.afterCommit(() -> done.add("after"));
            assertThat(done).as("in the work").isEmpty();
            assertThat(unit.session()).isEmpty();
            return "result";
        });
        transactions.run(Transactions.Use.SINGLE_WRITES, unit -> unit.in(posts).insert(new Document("_id", 2)));

        assertThat(result).isEqualTo("result");
        assertThat(done).containsExactly("after");
        assertThat(stored.countDocuments()).isEqualTo(2);
        assertThatThrownBy(() -> single.run(Transactions.Use.TRANSACTION, unit -> 1))
                .as("the call over the default")
                .isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void givenSingleWrites_whenTheWorkFails_thenNoHookRunsAndEarlierWritesStay() {
        assertThatThrownBy(() -> transactions.run(Transactions.Use.SINGLE_WRITES, unit -> {
                    unit.afterCommit(() -> done.add("after"));
                    unit.in(posts).insert(new Document("_id", 1));
                    throw new IllegalArgumentException("no");
                }))
                .hasMessage("no");

        assertThat(done).isEmpty();
        assertThat(stored.countDocuments()).isEqualTo(1);
    }

    @Test
    void givenUnitUnderWay_whenAnotherIsBegun_thenRefusedAndTheNextIsFine() throws InterruptedException {
        assertThatThrownBy(() -> transactions.run(
                        Transactions.Use.SINGLE_WRITES,
                        outer -> transactions.run(Transactions.Use.SINGLE_WRITES, inner -> 1)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("nested");

        assertThat(transactions.<Integer>run(Transactions.Use.SINGLE_WRITES, unit -> 7))
                .isEqualTo(7);
    }

    @Test
    void givenWorkThatIsInterrupted_whenRun_thenTheInterruptComesThrough() {
        assertThatThrownBy(() -> transactions.run(Transactions.Use.SINGLE_WRITES, unit -> {
                    throw new InterruptedException();
                }))
                .isInstanceOf(InterruptedException.class);
    }
}
