package dev.latchkey.documents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import dev.latchkey.LockConflictedException;
import dev.latchkey.LockLostException;
import dev.latchkey.LossReason;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Locks within the documents themselves. */
class DocumentLocksIT {

    private static final DocumentLockMode NONE = DocumentLockMode.NONE;
    private static final DocumentLockMode READ = DocumentLockMode.PESSIMISTIC_READ;
    private static final DocumentLockMode WRITE = DocumentLockMode.PESSIMISTIC_WRITE;
    private static final Duration LONG = Duration.ofMinutes(5);
    private static final Duration SHORT = Duration.ofMillis(50);

    private final MongoCollection<Document> stored = TestDatabase.newCollection();
    private final VersionedCollection<Document> posts = VersionedCollection.of(stored);
    private final DocumentLocks<Document> locks = new DocumentLocks<>(posts, LONG);
    private final DocumentLocks<Document> shortLocks = new DocumentLocks<>(posts, SHORT);

    @BeforeEach
    void insert() {
        posts.insert(new Document("_id", 1).append("title", "Foo"));
        posts.insert(new Document("_id", 2).append("title", "Bar"));
    }

    private Document load(Object id) {
        return Objects.requireNonNull(stored.find(Filters.eq(id)).first());
    }

    private LockedDocument<Document> lock(Object id, DocumentLockMode mode) {
        return locks.find(id, mode).orElseThrow();
    }

    /** Waits by asking for what only somebody else can have when the lease is over. */
    private LockedDocument<Document> takeOver(Object id) throws InterruptedException {
        return locks.find(id, WRITE, Duration.ofSeconds(30)).orElseThrow();
    }

    @Test
    void givenWriteLock_whenOthersLoadOrLock_thenConflictWhateverTheMode() {
        try (LockedDocument<Document> held = lock(1, WRITE)) {
            assertThat(held.mode()).isEqualTo(WRITE);
            assertThat(held.document()).containsEntry("title", "Foo").doesNotContainKey("_lock");
            for (DocumentLockMode mode : DocumentLockMode.values()) {
                assertThatThrownBy(() -> locks.find(1, mode))
                        .as("%s", mode)
                        .isInstanceOf(LockConflictedException.class)
                        .hasMessageContaining("/1");
            }
            assertThat(locks.find(2, WRITE)).as("another document").isPresent();
        }
        assertThat(locks.find(1, WRITE)).isPresent();
    }

    @Test
    void givenReadLock_whenOthersRead_thenTheyCanAndNobodyCanWriteLock() {
        try (LockedDocument<Document> first = lock(1, READ);
                LockedDocument<Document> second = lock(1, READ)) {
            assertThat(locks.find(1, NONE)).isPresent();
            assertThatThrownBy(() -> locks.find(1, WRITE)).isInstanceOf(LockConflictedException.class);
            assertThat(first.release()).isTrue();
            assertThatThrownBy(() -> locks.find(1, WRITE)).isInstanceOf(LockConflictedException.class);
            assertThat(second.release()).isTrue();
            assertThat(locks.find(1, WRITE)).isPresent();
        }
    }

    @Test
    void givenTwoWhoLockAtOnce_whenLoadedWithAWriteLock_thenOnlyOneGetsItEachTime() throws Exception {
        for (int round = 0; round < 50; round++) {
            int id = 100 + round;
            posts.insert(new Document("_id", id));
            CountDownLatch start = new CountDownLatch(1);
            List<BackgroundCall<Boolean>> rivals = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                rivals.add(BackgroundCall.start(() -> {
                    start.await();
                    try {
                        return locks.find(id, WRITE).isPresent();
                    } catch (LockConflictedException e) {
                        return false;
                    }
                }));
            }
            start.countDown();
            int winners = 0;
            for (BackgroundCall<Boolean> rival : rivals) {
                winners += rival.result() ? 1 : 0;
            }
            assertThat(winners).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"PESSIMISTIC_READ", "PESSIMISTIC_WRITE"})
    void givenLockOfAnother_whenWrittenWithoutIt_thenEveryWriteIsRefusedAndTheLockStays(DocumentLockMode mode) {
        Document loaded = posts.find(1).orElseThrow();
        try (LockedDocument<Document> held = lock(1, mode)) {
            List<org.assertj.core.api.ThrowableAssert.ThrowingCallable> writes = List.of(
                    () -> posts.replace(loaded),
                    () -> posts.update(1, Version.of(1), Updates.set("title", "Baz")),
                    () -> posts.delete(loaded),
                    () -> posts.update(1, document -> document.append("title", "Baz")),
                    () -> posts.merge(loaded, new Document(loaded).append("title", "Baz")),
                    () -> posts.mergeDeletion(loaded, MergePolicy.MINE_UNLESS_DELETED));
            writes.forEach(write -> assertThatThrownBy(write).isInstanceOf(LockConflictedException.class));

            assertThat(held.refresh()).containsEntry("title", "Foo").containsEntry("version", 1);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"PESSIMISTIC_READ", "PESSIMISTIC_WRITE"})
    void givenLock_whenTheOwnerWrites_thenWrittenWithANewVersionAndStillLocked(DocumentLockMode mode)
            throws InterruptedException {
        try (LockedDocument<Document> held = lock(1, mode)) {
            Document second = held.replace(held.document().append("title", "second"));
            held.update(Version.of(2), Updates.set("title", "third"));
            held.update(document -> document.append("title", "fourth"));

            assertThat(second).containsEntry("version", 2);
            assertThat(load(1)).containsEntry("title", "fourth").containsEntry("version", 4);
            assertThatThrownBy(() -> locks.find(1, WRITE)).isInstanceOf(LockConflictedException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"PESSIMISTIC_READ", "PESSIMISTIC_WRITE"})
    void givenLock_whenTheOwnerWritesForTheLastTime_thenReleasedWithTheWrite(DocumentLockMode mode) {
        try (LockedDocument<Document> held = lock(1, mode)) {
            held.saveAndRelease(held.document().append("title", "last"));

            assertThat(load(1)).containsEntry("title", "last").containsEntry("version", 2);
            try (LockedDocument<Document> next = lock(1, WRITE)) {
                assertThat(held.release()).isFalse();
                assertThat(next.refresh()).containsEntry("title", "last");
            }
        }
        try (LockedDocument<Document> held = lock(1, mode)) {
            held.saveAndRelease(held.document().append("title", "replaced"));
            assertThat(locks.find(1, WRITE)).isPresent();
        }
    }

    @Test
    void givenReleasedWithAWrite_whenWrittenAgain_thenRefusedAndTheNextOwnersLockStays() {
        LockedDocument<Document> held = lock(1, WRITE);
        Document written = held.saveAndRelease(held.document());
        try (LockedDocument<Document> next = lock(1, WRITE)) {
            assertThatThrownBy(() -> held.saveAndRelease(written)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> held.replace(written)).isInstanceOf(IllegalStateException.class);
            assertThat(held.release()).isFalse();
            assertThatCode(next::refresh).doesNotThrowAnyException();
        }
    }

    @Test
    void givenLock_whenTheOwnerDeletes_thenGoneAndClosingIsQuiet() {
        try (LockedDocument<Document> held = lock(1, WRITE)) {
            assertThat(held.delete(held.document())).isTrue();
        }
        assertThat(posts.find(1)).isEmpty();
    }

    @Test
    void givenOneOfTwoReaders_whenItWrites_thenConflictAndItStillReads() {
        try (LockedDocument<Document> one = lock(1, READ);
                LockedDocument<Document> other = lock(1, READ)) {
            assertThatThrownBy(() -> one.replace(one.document())).isInstanceOf(LockConflictedException.class);
            assertThat(one.refresh()).isEqualTo(other.refresh());
        }
    }

    @Test
    void givenDocumentLoadedWhileAnotherHadItLocked_whenWritten_thenTheOldLockIsNotMineAndNotWrittenBack() {
        LockedDocument<Document> other = lock(1, READ);
        Document loaded = posts.find(1).orElseThrow();
        assertThatThrownBy(() -> posts.replace(loaded)).isInstanceOf(LockConflictedException.class);
        other.release();

        posts.replace(loaded);

        assertThat(locks.find(1, WRITE)).as("no old copy of the lock").isPresent();
    }

    @Test
    void givenDeadOwner_whenTheLeaseIsOver_thenTakenOverAndTheOldOwnerCanDoNothing() throws Exception {
        LockedDocument<Document> dead = shortLocks.find(1, WRITE).orElseThrow();

        try (LockedDocument<Document> next = takeOver(1)) {
            assertThat(dead.remainingLifetime()).isZero();
            assertThatThrownBy(() -> dead.replace(dead.document())).isInstanceOf(LockLostException.class);
            assertThat(dead.release()).isFalse();
            assertThatCode(next::refresh).doesNotThrowAnyException();
        }
    }

    @Test
    void givenLeaseIsOverAndNobodyTookIt_whenRefreshed_thenLostBecauseItExpired() {
        LockedDocument<Document> expired = shortLocks.find(1, WRITE).orElseThrow();
        Awaitility.await()
                .ignoreExceptions()
                .atMost(TimeLimits.LIMIT)
                .until(() -> locks.find(1, NONE).isPresent());

        LockLostException lost = catchThrowableOfType(LockLostException.class, expired::refresh);

        assertThat(lost.reason()).isEqualTo(LossReason.EXPIRED);
    }

    @Test
    void givenDeadReader_whenItsLeaseIsOver_thenOnlyTheLivingCount() throws Exception {
        assertThat(shortLocks.find(1, READ)).isPresent();
        try (LockedDocument<Document> alive = lock(1, READ)) {
            Awaitility.await().atMost(TimeLimits.LIMIT).ignoreExceptions().untilAsserted(alive::promote);
            assertThat(alive.mode()).isEqualTo(WRITE);
        }
    }

    @Test
    void givenTakenOver_whenRefreshedOrClosed_thenLostIsSaid() throws Exception {
        LockedDocument<Document> dead = shortLocks.find(1, WRITE).orElseThrow();
        LockedDocument<Document> another = shortLocks.find(2, WRITE).orElseThrow();
        takeOver(1);
        takeOver(2);

        LockLostException lost = catchThrowableOfType(LockLostException.class, dead::refresh);

        assertThat(lost.reason()).isEqualTo(LossReason.TAKEN_OVER);
        assertThat(dead.mode()).isEqualTo(NONE);
        assertThatThrownBy(another::close).isInstanceOf(LockLostException.class);
    }

    @Test
    void givenRefreshed_whenTheFirstLeaseWouldBeOver_thenStillHeld() {
        DocumentLocks<Document> seconds = new DocumentLocks<>(posts, TimeLimits.ttl(Duration.ofSeconds(10)));
        try (LockedDocument<Document> held = seconds.find(1, WRITE).orElseThrow()) {
            Duration first = held.remainingLifetime();
            Awaitility.await().until(() -> held.remainingLifetime().compareTo(first.dividedBy(2)) < 0);

            held.refresh();

            assertThat(held.remainingLifetime()).isGreaterThan(first.dividedBy(2));
            assertThatThrownBy(() -> locks.find(1, WRITE)).isInstanceOf(LockConflictedException.class);
        }
    }

    @Test
    void givenReader_whenPromotedAndDemoted_thenNobodyGetsInBetween() {
        try (LockedDocument<Document> held = lock(1, READ)) {
            held.promote();
            assertThat(held.mode()).isEqualTo(WRITE);
            long token = held.fencingToken();
            assertThatThrownBy(() -> locks.find(1, READ)).isInstanceOf(LockConflictedException.class);
            held.promote();
            assertThat(held.fencingToken()).as("of the same hold").isEqualTo(token);

            held.demote();
            assertThat(held.mode()).isEqualTo(READ);
            assertThat(locks.find(1, READ)).isPresent();
            assertThatThrownBy(held::fencingToken).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void givenTwoReaders_whenOnePromotes_thenConflictAndBothStillRead() {
        try (LockedDocument<Document> one = lock(1, READ);
                LockedDocument<Document> other = lock(1, READ)) {
            assertThatThrownBy(one::promote).isInstanceOf(LockConflictedException.class);

            assertThat(one.mode()).isEqualTo(READ);
            assertThat(one.refresh()).isEqualTo(other.refresh());
        }
    }

    @Test
    void givenEachNewWriter_whenLocked_thenGreaterFencingTokenAlsoAfterTheDocumentWasMadeAgain() {
        List<Long> tokens = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            try (LockedDocument<Document> held = lock(1, WRITE)) {
                tokens.add(held.fencingToken());
            }
        }
        stored.deleteOne(Filters.eq(1));
        posts.insert(new Document("_id", 1));
        try (LockedDocument<Document> held = lock(1, WRITE)) {
            tokens.add(held.fencingToken());
        }
        assertThat(tokens).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void givenFencingToken_whenItGuardsAnotherDocument_thenAnEarlierHolderWritesNoMore() throws Exception {
        MongoCollection<Document> invoices = TestDatabase.newCollection();
        invoices.insertOne(new Document("_id", "invoice"));
        LockedDocument<Document> early = shortLocks.find(1, WRITE).orElseThrow();
        Bson earlyFilter = Filters.and(Filters.eq("invoice"), early.notOvertaken("postToken"));
        Bson earlyUpdate = Updates.combine(Updates.set("by", "early"), early.stamp("postToken"));
        assertThat(invoices.updateOne(earlyFilter, earlyUpdate).getMatchedCount())
                .isEqualTo(1);

        try (LockedDocument<Document> late = takeOver(1)) {
            invoices.updateOne(
                    Filters.and(Filters.eq("invoice"), late.notOvertaken("postToken")),
                    Updates.combine(Updates.set("by", "late"), late.stamp("postToken")));
        }

        assertThat(invoices.updateOne(earlyFilter, earlyUpdate).getMatchedCount())
                .isZero();
        assertThat(invoices.find().first()).containsEntry("by", "late");
    }

    @Test
    void givenWaiter_whenReleased_thenItGetsTheDocumentAsItIsThen() throws Exception {
        LockedDocument<Document> held = lock(1, WRITE);
        BackgroundCall<LockedDocument<Document>> waiter = BackgroundCall.start(
                () -> locks.find(1, WRITE, Duration.ofSeconds(30)).orElseThrow());
        held.update(Version.of(1), Updates.set("title", "new"));

        held.release();

        assertThat(waiter.result().document()).containsEntry("title", "new").containsEntry("version", 2);
    }

    @Test
    void givenWaiter_whenTheWaitIsOverOrInterrupted_thenItHoldsNothing() throws Exception {
        LockedDocument<Document> held = lock(1, READ);
        assertThatThrownBy(() -> locks.find(1, WRITE, Duration.ofMillis(20)))
                .isInstanceOf(LockConflictedException.class);
        BackgroundCall<?> waiter = BackgroundCall.start(() -> locks.find(1, WRITE, LONG));
        waiter.awaitWaiting();

        waiter.interrupt();

        assertThatThrownBy(waiter::result)
                .satisfiesAnyOf(
                        e -> assertThat(e).isInstanceOf(InterruptedException.class),
                        e -> assertThat(e).isInstanceOf(com.mongodb.MongoInterruptedException.class));
        assertThatCode(held::promote).doesNotThrowAnyException();
    }

    @Test
    void givenLock_whenTheInterruptedOwnerClosesIt_thenReleasedAndTheFlagIsKept() {
        LockedDocument<Document> held = lock(1, WRITE);

        Thread.currentThread().interrupt();
        held.close();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(locks.find(1, WRITE)).isPresent();
    }

    @Test
    void givenSeveralDocuments_whenInterruptedInTheMiddle_thenNoneIsHeld() {
        Interposed interrupted = new Interposed(number -> {
            if (number == 2) {
                Thread.currentThread().interrupt();
            }
        });
        MongoCollection<Document> through = interrupted
                .database(TestDatabase.DATABASE)
                .getCollection(stored.getNamespace().getCollectionName());

        assertThatThrownBy(() -> new DocumentLocks<>(VersionedCollection.of(through), LONG)
                        .findAll(List.of(1, 2), WRITE, Duration.ZERO))
                .isInstanceOf(com.mongodb.MongoInterruptedException.class);

        assertThat(Thread.interrupted()).isTrue();
        assertThat(locks.find(1, WRITE)).isPresent();
        assertThat(locks.find(2, WRITE)).isPresent();
    }

    @Test
    void givenSeveralDocuments_whenOneIsLocked_thenNoneIsHeld() {
        try (LockedDocument<Document> held = lock(2, WRITE)) {
            assertThatThrownBy(() -> locks.findAll(List.of(1, 2), WRITE, Duration.ofMillis(20)))
                    .isInstanceOf(LockConflictedException.class)
                    .hasMessageContaining("/2");
            assertThat(held.mode()).isEqualTo(WRITE);
            assertThat(locks.find(1, WRITE)).isPresent();
        }
    }

    @Test
    void givenSeveralDocuments_whenOneDoesNotExist_thenNoneIsHeld() {
        assertThatThrownBy(() -> locks.findAll(List.of(1, 2, 99), WRITE, Duration.ZERO))
                .isInstanceOf(NoSuchElementException.class)
                .hasMessageContaining("/99");
        assertThat(locks.find(1, WRITE)).isPresent();
        assertThat(locks.find(2, WRITE)).isPresent();
    }

    @Test
    void givenManyWhoWantTheSameDocumentsInAnyOrder_whenLockedTogether_thenAllGetTheirTurn() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        List<BackgroundCall<Boolean>> rivals = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            List<Integer> ids = i % 2 == 0 ? List.of(1, 2) : List.of(2, 1, 2);
            rivals.add(BackgroundCall.start(() -> {
                boolean wasAlone = true;
                for (int round = 0; round < 5; round++) {
                    try (LockedDocuments<Document> both = locks.findAll(ids, WRITE, TimeLimits.LIMIT)) {
                        wasAlone &= inside.incrementAndGet() == 1;
                        both.refresh();
                        assertThat(both.all())
                                .extracting(one -> one.document().get("_id"))
                                .containsExactlyElementsOf(List.copyOf(new java.util.LinkedHashSet<>(ids)));
                        inside.decrementAndGet();
                    }
                }
                return wasAlone;
            }));
        }
        for (BackgroundCall<Boolean> rival : rivals) {
            assertThat(rival.result()).isTrue();
        }
    }

    @Test
    void givenNoDocument_whenLocked_thenEmptyAndNoneIsMade() {
        for (DocumentLockMode mode : DocumentLockMode.values()) {
            assertThat(locks.find(99, mode)).isEmpty();
        }
        assertThat(stored.countDocuments()).isEqualTo(2);
    }

    @Test
    void givenModeOptimistic_whenTheDocumentHasNoVersion_thenItSaysSo() throws InterruptedException {
        stored.insertOne(new Document("_id", 3));

        assertThatThrownBy(() -> locks.find(3, DocumentLockMode.OPTIMISTIC))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("/3 has no version");
        try (LockedDocument<Document> loaded = lock(1, DocumentLockMode.OPTIMISTIC)) {
            Document second = loaded.replace(loaded.document());
            assertThat(loaded.saveAndRelease(second)).containsEntry("version", 3);
            assertThat(loaded.update(document -> document.append("title", "Bar")))
                    .isInstanceOf(ChangeResult.Updated.class);
            assertThat(loaded.mode()).isEqualTo(NONE);
            assertThatThrownBy(loaded::refresh).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void givenTtlOutOfRange_whenMade_thenArgumentIsRefused() {
        for (Duration ttl : List.of(Duration.ZERO, Duration.ofMillis(-1), Duration.ofMillis(9))) {
            assertThatThrownBy(() -> new DocumentLocks<>(posts, ttl))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("PT0.01S");
        }
    }

    @Test
    void givenHeldLock_whenShown_thenNoTokenIsInAnyText() {
        try (LockedDocument<Document> held = lock(1, WRITE)) {
            String token =
                    Objects.requireNonNull(load(1).get("_lock", Document.class)).getString("writer");
            assertThat(token).hasSize(32);
            assertThat(held + " " + held.document())
                    .contains("/1, PESSIMISTIC_WRITE")
                    .doesNotContain(token);
            assertThatThrownBy(() -> locks.find(1, WRITE)).hasMessageNotContaining(token);
        }
    }
}
