package dev.latchkey.documents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoException;
import com.mongodb.MongoWriteException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.Indexes;
import com.mongodb.client.model.Updates;
import dev.latchkey.testkit.BackgroundCall;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

/** Transactions, where there are any: see {@link ReplicaSet}. */
@EnabledIf(value = "isThere", disabledReason = "no MongoDB replica set: put a mongod on the PATH, or start Docker")
class ReplicaSetIT {

    private static MongoClient client;

    private MongoCollection<Document> stored;
    private VersionedCollection<Document> posts;
    private Transactions transactions;
    private final List<String> done = new ArrayList<>();

    static boolean isThere() {
        return ReplicaSet.isThere();
    }

    @BeforeAll
    static void open() {
        client = MongoClients.create(ReplicaSet.uri());
    }

    @AfterAll
    static void close() {
        client.close();
    }

    @BeforeEach
    void insert() {
        stored = client.getDatabase("latchkey_units").getCollection("c" + System.nanoTime());
        posts = VersionedCollection.of(stored);
        transactions = new Transactions(client);
        posts.insert(new Document("_id", 1));
        posts.insert(new Document("_id", 2));
    }

    @Test
    void givenSeveralWrites_whenOneFails_thenNothingIsWrittenAndNoHookRuns() {
        assertThatThrownBy(() -> transactions.run(unit -> {
                    unit.afterCommit(() -> done.add("after"));
                    unit.in(posts).update(1, Version.of(1), Updates.set("title", "new"));
                    return unit.in(posts).update(2, Version.of(99), Updates.set("title", "new"));
                }))
                .isInstanceOf(OptimisticLockException.class);

        assertThat(stored.countDocuments(Filters.exists("title"))).isZero();
        assertThat(done).isEmpty();
    }

    @Test
    void givenSeveralWrites_whenCommitted_thenAllAreThereAndHooksFollow() throws InterruptedException {
        transactions.run(unit -> {
            unit.in(posts).update(1, Version.of(1), Updates.set("title", "new"));
            unit.afterCommit(() -> done.add("after"));
            return unit.in(posts).update(2, Version.of(1), Updates.set("title", "new"));
        });

        assertThat(stored.countDocuments(Filters.and(Filters.eq("title", "new"), Filters.eq("version", 2))))
                .isEqualTo(2);
        assertThat(done).containsExactly("after");
    }

    @Test
    void givenTransientError_whenRepeated_thenVersionsAreThoseOfTheDatabaseAndHooksRunOnce()
            throws InterruptedException {
        AtomicInteger attempts = new AtomicInteger();
        AtomicInteger once = new AtomicInteger();

        transactions.run(unit -> {
            unit.once("number", once::incrementAndGet);
            unit.afterCommit(() -> done.add("after"));
            Document changed = unit.in(posts).update(1, Version.of(1), Updates.set("title", "new"));
            if (attempts.getAndIncrement() == 0) {
                MongoException error = new MongoException("as an election would be");
                error.addLabel(MongoException.TRANSIENT_TRANSACTION_ERROR_LABEL);
                throw error;
            }
            return changed;
        });

        assertThat(attempts).hasValue(2);
        assertThat(once).hasValue(1);
        assertThat(done).containsExactly("after");
        assertThat(posts.find(1).orElseThrow()).containsEntry("version", 2);
    }

    /** After it the transaction is dead: whatever is asked in it then fails with an error that would have it repeated. */
    @Test
    void givenAnotherUniqueIndex_whenCreatedAgainstIt_thenItsErrorComesAtOnce() {
        stored.createIndex(
                Indexes.ascending("email"), new IndexOptions().unique(true).sparse(true));
        posts.insert(new Document("_id", 3).append("email", "a@example"));
        AtomicInteger attempts = new AtomicInteger();

        assertThatThrownBy(() -> transactions.run(unit -> {
                    attempts.incrementAndGet();
                    return unit.in(posts)
                            .addOrUpdate(4, Document::new, document -> document.append("email", "a@example"));
                }))
                .isInstanceOf(MongoWriteException.class)
                .hasMessageContaining("email");

        assertThat(attempts).hasValue(1);
    }

    @Test
    void givenManyUnitsOnTheSameDocuments_whenRunAtOnce_thenNothingIsLost() throws Exception {
        List<BackgroundCall<Integer>> all = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            all.add(BackgroundCall.start(() -> transactions.run(unit -> {
                unit.in(posts).update(1, document -> document.append("n", document.getInteger("n", 0) + 1));
                unit.in(posts).update(2, document -> document.append("n", document.getInteger("n", 0) + 1));
                return 1;
            })));
        }
        for (BackgroundCall<Integer> one : all) {
            one.result();
        }
        assertThat(stored.countDocuments(Filters.and(Filters.eq("n", 8), Filters.eq("version", 9))))
                .isEqualTo(2);
    }

    @Test
    void givenLockedDocument_whenWrittenInAUnit_thenRefusedAsOutside() {
        try (LockedDocument<Document> held = new DocumentLocks<>(posts, Duration.ofMinutes(1))
                .find(1, DocumentLockMode.PESSIMISTIC_WRITE)
                .orElseThrow()) {
            assertThatThrownBy(() -> transactions.run(
                            unit -> unit.in(posts).update(1, Version.of(1), Updates.set("title", "new"))))
                    .isInstanceOf(dev.latchkey.LockConflictedException.class);
            assertThat(held.refresh()).containsEntry("version", 1);
        }
    }

    /** The lock is none of the transaction's: it is held after an aborted one, and given up after a committed one. */
    @Test
    void givenLockedDocument_whenItsOwnerWritesInUnits_thenWrittenWithTheCommitAndTheLockStays()
            throws InterruptedException {
        LockedDocument<Document> held = new DocumentLocks<>(posts, Duration.ofMinutes(1))
                .find(1, DocumentLockMode.PESSIMISTIC_WRITE)
                .orElseThrow();
        assertThatThrownBy(() -> transactions.run(unit -> {
                    unit.in(held).update(Version.of(1), Updates.set("title", "aborted"));
                    throw new IllegalArgumentException("no");
                }))
                .hasMessage("no");

        transactions.run(unit -> {
            try (LockedDocument<Document> view = unit.in(held)) {
                return view.update(Version.of(1), Updates.set("title", "new"));
            }
        });

        assertThat(posts.find(1).orElseThrow()).containsEntry("version", 2).containsEntry("title", "new");
        assertThat(held.mode()).isEqualTo(DocumentLockMode.PESSIMISTIC_WRITE);
        assertThat(held.release()).isTrue();
    }
}
