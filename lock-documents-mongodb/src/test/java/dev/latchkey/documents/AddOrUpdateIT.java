package dev.latchkey.documents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoWriteException;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.Indexes;
import com.mongodb.client.model.Updates;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.Document;
import org.junit.jupiter.api.Test;

/** Load, change, save, and again. */
class AddOrUpdateIT {

    private static final int WRITERS = 16;
    private static final int INCREMENTS = 500;

    private final MongoCollection<Document> stored = TestDatabase.newCollection();
    private final VersionedCollection<Document> counters = VersionedCollection.of(stored);

    private static Document increment(Document counter) {
        return counter.append("count", counter.getInteger("count", 0) + 1);
    }

    private Document load(Object id) {
        return Objects.requireNonNull(stored.find(Filters.eq(id)).first());
    }

    @Test
    void givenSixteenWriters_whenEachIncrements500Times_thenNothingIsLostAndTheVersionIsTheCount() throws Exception {
        VersionedCollection<Document> patient = VersionedCollection.builder(stored)
                .retry(Integer.MAX_VALUE, Duration.ofMinutes(5))
                .build();
        CountDownLatch start = new CountDownLatch(1);
        ExecutorService writers = Executors.newFixedThreadPool(WRITERS);
        List<Future<Integer>> created = new ArrayList<>();
        for (int writer = 0; writer < WRITERS; writer++) {
            created.add(writers.submit(() -> {
                start.await();
                int mine = 0;
                for (int i = 0; i < INCREMENTS; i++) {
                    ChangeResult<Document> outcome =
                            patient.addOrUpdate("counter", Document::new, AddOrUpdateIT::increment);
                    outcome.orElseThrow();
                    mine += outcome instanceof ChangeResult.Created ? 1 : 0;
                }
                return mine;
            }));
        }

        start.countDown();
        int creators = 0;
        for (Future<Integer> one : created) {
            creators += one.get(5, TimeUnit.MINUTES);
        }
        writers.shutdownNow();

        assertThat(load("counter"))
                .containsEntry("count", WRITERS * INCREMENTS)
                .containsEntry("version", WRITERS * INCREMENTS);
        assertThat(creators).isEqualTo(1);
    }

    @Test
    void givenNoDocument_whenAddedOrUpdated_thenCreatedWithTheFirstVersion() throws InterruptedException {
        ChangeResult<Document> outcome =
                counters.addOrUpdate(1, () -> new Document("version", 99).append("count", 0), AddOrUpdateIT::increment);

        assertThat(outcome).isInstanceOf(ChangeResult.Created.class);
        assertThat(outcome.document()).contains(load(1));
        assertThat(load(1)).containsEntry("count", 1).containsEntry("version", 1);
    }

    /** Nobody would be told that the document is there already: what one made would be lost, though it was told as created. */
    @Test
    void givenWritesThatAreNotAcknowledged_whenADocumentIsMadeThatIsThere_thenRefusedAndItStays() throws Exception {
        stored.insertOne(new Document("_id", 1).append("count", 5).append("version", 5));

        assertThatThrownBy(() -> VersionedCollection.of(stored.withWriteConcern(WriteConcern.UNACKNOWLEDGED))
                        .insert(new Document("_id", 1).append("count", 1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("not acknowledged");

        assertThat(load(1)).containsEntry("count", 5);
    }

    @Test
    void givenNoDocumentAndNoFactory_whenUpdated_thenAbsentAndTheChangeIsNotCalled() throws InterruptedException {
        AtomicInteger calls = new AtomicInteger();

        ChangeResult<Document> outcome = counters.update(1, document -> {
            calls.incrementAndGet();
            return document;
        });

        assertThat(outcome).isInstanceOf(ChangeResult.Absent.class);
        assertThat(outcome.document()).isEmpty();
        assertThatThrownBy(outcome::orElseThrow).hasMessageContaining("Absent");
        assertThat(calls).hasValue(0);
        assertThat(stored.countDocuments()).isZero();
    }

    @Test
    void givenNothingToChange_whenUpdated_thenUnchangedAndSameVersion() throws InterruptedException {
        counters.insert(new Document("_id", 1).append("count", 5));

        assertThat(counters.update(1, document -> document)).isInstanceOf(ChangeResult.Unchanged.class);
        assertThat(load(1)).containsEntry("version", 1);
    }

    @Test
    void givenFieldTakenAway_whenUpdated_thenItIsGone() throws InterruptedException {
        counters.insert(new Document("_id", 1).append("count", 5).append("note", "x"));

        counters.update(1, document -> {
            document.remove("note");
            return document;
        });

        assertThat(load(1)).doesNotContainKey("note").containsEntry("version", 2);
    }

    @Test
    void givenTextThatLooksLikeAnExpression_whenWritten_thenStoredAsItIs() throws InterruptedException {
        Document inserted = counters.insert(new Document("_id", 1).append("text", "$count"));

        counters.update(1, document -> document.append("other", "$$NOW"));
        counters.replace(counters.find(1).orElseThrow().append("third", new Document("deep", "$text")));

        assertThat(load(1))
                .containsEntry("text", inserted.getString("text"))
                .containsEntry("other", "$$NOW")
                .containsEntry("third", new Document("deep", "$text"));
    }

    @Test
    void givenFieldNameThatIsAPath_whenUpdated_thenRefusedBecauseItWouldChangeSomethingElse() {
        counters.insert(new Document("_id", 1).append("a", new Document("b", 1)));

        assertThatThrownBy(() -> counters.update(1, document -> document.append("a.b", 2)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"a.b\"");
        assertThat(load(1)).containsEntry("a", new Document("b", 1)).containsEntry("version", 1);
    }

    @Test
    void givenWriterInBetween_whenUpdated_thenTheWholeCycleIsRepeated() throws InterruptedException {
        counters.insert(new Document("_id", 1).append("count", 1));
        AtomicInteger calls = new AtomicInteger();

        ChangeResult<Document> outcome = counters.update(1, document -> {
            if (calls.getAndIncrement() == 0) {
                counters.update(1, Version.of(1), Updates.set("count", 10));
            }
            return increment(document);
        });

        assertThat(outcome).isInstanceOf(ChangeResult.Updated.class);
        assertThat(calls).hasValue(2);
        assertThat(load(1)).containsEntry("count", 11).containsEntry("version", 3);
    }

    @Test
    void givenCreatorInBetween_whenAddedOrUpdated_thenItsDocumentIsChanged() throws InterruptedException {
        AtomicInteger calls = new AtomicInteger();

        ChangeResult<Document> outcome = counters.addOrUpdate(1, Document::new, document -> {
            if (calls.getAndIncrement() == 0) {
                counters.insert(new Document("_id", 1).append("count", 10));
            }
            return increment(document);
        });

        assertThat(outcome).isInstanceOf(ChangeResult.Updated.class);
        assertThat(load(1)).containsEntry("count", 11).containsEntry("version", 2);
    }

    @Test
    void givenDeletedInBetween_whenAddedOrUpdated_thenNotMadeAgain() throws InterruptedException {
        counters.insert(new Document("_id", 1).append("count", 1));

        ChangeResult<Document> outcome = counters.addOrUpdate(1, Document::new, document -> {
            stored.deleteOne(Filters.eq(1));
            return increment(document);
        });

        assertThat(outcome).isInstanceOf(ChangeResult.DeletedMeanwhile.class);
        assertThatThrownBy(outcome::orElseThrow)
                .isInstanceOf(OptimisticLockException.class)
                .hasMessageContaining("/1");
        assertThat(stored.countDocuments()).isZero();
    }

    @Test
    void givenAnotherUniqueIndex_whenCreatedAgainstIt_thenItsErrorComesAtOnce() {
        stored.createIndex(Indexes.ascending("email"), new IndexOptions().unique(true));
        counters.insert(new Document("_id", 1).append("email", "a@example"));
        AtomicInteger calls = new AtomicInteger();

        assertThatThrownBy(() -> counters.addOrUpdate(2, Document::new, document -> {
                    calls.incrementAndGet();
                    return document.append("email", "a@example");
                }))
                .isInstanceOf(MongoWriteException.class);

        assertThat(calls).hasValue(1);
    }

    @Test
    void givenAnotherUniqueIndex_whenUpdatedAgainstIt_thenItsErrorComesAtOnce() {
        stored.createIndex(Indexes.ascending("email"), new IndexOptions().unique(true));
        counters.insert(new Document("_id", 1).append("email", "a@example"));
        counters.insert(new Document("_id", 2).append("email", "b@example"));
        AtomicInteger calls = new AtomicInteger();

        assertThatThrownBy(() -> counters.update(2, document -> {
                    calls.incrementAndGet();
                    return document.append("email", "a@example");
                }))
                .isInstanceOf(MongoCommandException.class);

        assertThat(calls).hasValue(1);
        assertThat(load(2)).containsEntry("email", "b@example").containsEntry("version", 1);
    }

    @Test
    void givenAlwaysSomebodyFaster_whenUpdated_thenGivesUpAfterAsManyAttemptsAsSet() throws InterruptedException {
        counters.insert(new Document("_id", 1).append("count", 0));
        VersionedCollection<Document> impatient = VersionedCollection.builder(stored)
                .retry(3, Duration.ofMinutes(5))
                .build();

        ChangeResult<Document> outcome = impatient.update(1, document -> {
            stored.updateOne(Filters.eq(1), Updates.inc("version", 1));
            return increment(document);
        });

        assertThat(outcome).isEqualTo(new ChangeResult.GaveUp<Document>(stored.getNamespace() + "/1", 3));
        assertThatThrownBy(outcome::orElseThrow)
                .isInstanceOf(OptimisticLockException.class)
                .hasMessageContaining("3 attempts");
        assertThat(load(1)).containsEntry("count", 0);
    }

    @Test
    void givenNoTime_whenSomebodyIsFaster_thenGivesUpAfterOneAttempt() throws InterruptedException {
        counters.insert(new Document("_id", 1));
        VersionedCollection<Document> hasty =
                VersionedCollection.builder(stored).retry(1_000, Duration.ZERO).build();

        ChangeResult<Document> outcome = hasty.update(1, document -> {
            stored.updateOne(Filters.eq(1), Updates.inc("version", 1));
            return increment(document);
        });

        assertThat(outcome).isEqualTo(new ChangeResult.GaveUp<Document>(stored.getNamespace() + "/1", 1));
    }

    @Test
    void givenRepeating_whenInterrupted_thenItEndsAndNothingIsWritten() throws Exception {
        counters.insert(new Document("_id", 1).append("count", 0));
        VersionedCollection<Document> patient = VersionedCollection.builder(stored)
                .retry(Integer.MAX_VALUE, Duration.ofMinutes(5))
                .build();
        CountDownLatch repeating = new CountDownLatch(10);
        BackgroundCall<ChangeResult<Document>> call = BackgroundCall.start(() -> patient.update(1, document -> {
            stored.updateOne(Filters.eq(1), Updates.inc("version", 1));
            repeating.countDown();
            return increment(document);
        }));
        assertThat(repeating.await(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS))
                .isTrue();

        call.awaitWaiting();
        call.interrupt();

        assertThatThrownBy(call::result)
                .satisfiesAnyOf(
                        e -> assertThat(e).isInstanceOf(InterruptedException.class),
                        e -> assertThat(e).isInstanceOf(com.mongodb.MongoInterruptedException.class));
        assertThat(load(1)).containsEntry("count", 0);
    }

    @Test
    void givenChangeOfTheId_whenUpdated_thenArgumentIsRefused() {
        counters.insert(new Document("_id", 1));

        assertThatThrownBy(() -> counters.update(1, document -> document.append("_id", 2)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("_id");
    }

    @Test
    void givenChangeThatThrows_whenUpdated_thenNothingIsWritten() {
        counters.insert(new Document("_id", 1));

        assertThatThrownBy(() -> counters.update(1, document -> {
                    throw new IllegalStateException("no");
                }))
                .hasMessage("no");
        assertThat(load(1)).containsEntry("version", 1);
    }
}
