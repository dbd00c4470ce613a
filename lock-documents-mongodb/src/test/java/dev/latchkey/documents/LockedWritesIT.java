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
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Objects;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.bson.Document;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the owner of a lock may write, and what it knows of the lock afterwards. */
class LockedWritesIT {

    private static final DocumentLockMode WRITE = DocumentLockMode.PESSIMISTIC_WRITE;
    private static final Duration LIMIT = TimeLimits.LIMIT;
    private static final Duration LONG = Duration.ofMinutes(5);
    private static final Duration SHORT = Duration.ofMillis(50);

    private final MongoCollection<Document> stored = TestDatabase.newCollection();
    private final VersionedCollection<Document> posts = VersionedCollection.of(stored);
    private final DocumentLocks<Document> locks = new DocumentLocks<>(posts, LONG);

    @BeforeEach
    void insert() {
        posts.insert(new Document("_id", 1).append("title", "Foo"));
    }

    private Document load() {
        return Objects.requireNonNull(stored.find(Filters.eq(1)).first());
    }

    private LockedDocument<Document> lost() throws InterruptedException {
        LockedDocument<Document> dead =
                new DocumentLocks<>(posts, SHORT).find(1, WRITE).orElseThrow();
        locks.find(1, WRITE, LIMIT).orElseThrow().close();
        return dead;
    }

    /** A11: after a loss that a renewal had found, the lost holder was given the plain collection. */
    @Test
    void givenALossThatARenewalFound_whenWritten_thenEachWriteSaysSoAndNothingIsWritten() throws InterruptedException {
        LockedDocument<Document> dead = lost();
        assertThatThrownBy(dead::refresh).isInstanceOf(LockLostException.class);

        for (ThrowingCallable write : List.<ThrowingCallable>of(
                () -> dead.update(document -> document.append("title", "Late")),
                () -> dead.update(Version.of(1), Updates.set("title", "Late")),
                () -> dead.replace(dead.document()),
                () -> dead.saveAndRelease(dead.document()),
                () -> dead.delete(dead.document()),
                dead::refresh)) {
            assertThatThrownBy(write).isInstanceOf(LockLostException.class);
        }
        assertThat(load()).containsEntry("title", "Foo").containsEntry("version", 1);
        assertThatCode(dead::close).as("told already").doesNotThrowAnyException();
    }

    @Test
    void givenADocumentOfAnotherId_whenWrittenByTheOwner_thenRefused() {
        try (LockedDocument<Document> held = locks.find(1, WRITE).orElseThrow()) {
            Document other = posts.insert(new Document("_id", 2));

            assertThatThrownBy(() -> held.replace(other)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> held.saveAndRelease(other)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> held.delete(other)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    /** F9: the lock was believed to be given up by a last write that was refused, and its loss was told by nobody. */
    @Test
    void givenALastWriteThatIsRefused_whenTheLeaseIsOver_thenClosingTellsTheLoss() throws InterruptedException {
        LockedDocument<Document> held = new DocumentLocks<>(posts, TimeLimits.ttl(Duration.ofSeconds(8)))
                .find(1, WRITE)
                .orElseThrow();
        Document stale = held.document().append("version", 7);
        assertThatThrownBy(() -> held.saveAndRelease(stale)).isInstanceOf(OptimisticLockException.class);
        assertThat(held.mode()).as("held still").isEqualTo(WRITE);
        assertThat(locks.find(1, WRITE, LIMIT)).isPresent();

        LockLostException told = catchThrowableOfType(LockLostException.class, held::close);

        assertThat(told.reason()).isEqualTo(LossReason.TAKEN_OVER);
        assertThatCode(held::close).as("once").doesNotThrowAnyException();
    }

    /** F9: after the last write the lock was believed in. */
    @Test
    void givenALastWrite_whenDone_thenNothingIsBelievedAndClosingIsQuiet() {
        LockedDocument<Document> held = locks.find(1, WRITE).orElseThrow();

        held.saveAndRelease(held.document().append("title", "last"));

        assertThat(held.mode()).isEqualTo(DocumentLockMode.NONE);
        assertThat(held.remainingLifetime()).isZero();
        assertThat(held.release()).isFalse();
        assertThatCode(held::close).doesNotThrowAnyException();
        assertThat(locks.find(1, WRITE)).isPresent();
    }

    /** F9: a renewal whose answer came after the release had the lock believed in again. */
    @Test
    void givenARenewalUnderWay_whenReleased_thenNothingIsBelievedWhenItsAnswerComes() throws Exception {
        Interposed.Stop stop = new Interposed.Stop(2);
        MongoCollection<Document> slow = new Interposed(stop)
                .database(TestDatabase.DATABASE)
                .getCollection(stored.getNamespace().getCollectionName());
        LockedDocument<Document> held = new DocumentLocks<>(VersionedCollection.of(slow), LONG)
                .find(1, WRITE)
                .orElseThrow();
        BackgroundCall<Document> renewing = BackgroundCall.start(held::refresh);
        Awaitility.await().atMost(LIMIT).until(stop::isThere);
        BackgroundCall<Boolean> releasing = BackgroundCall.start(held::release);
        releasing.awaitWaiting();

        stop.goOn();

        assertThat(renewing.result()).containsEntry("title", "Foo");
        assertThat(releasing.result()).isTrue();
        assertThat(held.mode()).isEqualTo(DocumentLockMode.NONE);
        assertThat(held.remainingLifetime()).isZero();
        assertThat(locks.find(1, WRITE)).isPresent();
    }

    /** F9: what an unanswered demotion gave up stays given up: the server may do it at any time. */
    @Test
    void givenADemotionThatIsNotAnswered_whenPromotedAgain_thenRefusedAndOnlyReadingIsBelieved() {
        Interposed failing = new Interposed(number -> {
            if (number == 2) {
                throw new com.mongodb.MongoException("as a broken connection would be");
            }
        });
        MongoCollection<Document> through = failing.database(TestDatabase.DATABASE)
                .getCollection(stored.getNamespace().getCollectionName());
        LockedDocument<Document> held = new DocumentLocks<>(VersionedCollection.of(through), LONG)
                .find(1, WRITE)
                .orElseThrow();

        assertThatThrownBy(held::demote).isInstanceOf(com.mongodb.MongoException.class);

        assertThat(held.mode()).isEqualTo(DocumentLockMode.PESSIMISTIC_READ);
        assertThatThrownBy(held::promote).isInstanceOf(LockConflictedException.class);
        held.refresh();
        assertThatThrownBy(held::promote).isInstanceOf(LockConflictedException.class);
        held.demote();
        held.promote();
        assertThat(held.mode()).isEqualTo(WRITE);
        held.close();
    }

    /** Rule of all locks: one whose lease is over here is lost, though nobody took it. */
    @Test
    void givenTheLeaseIsOverAndNobodyTookIt_whenReleasedOrClosed_thenLost() throws InterruptedException {
        LockedDocument<Document> released =
                new DocumentLocks<>(posts, SHORT).find(1, WRITE).orElseThrow();
        Awaitility.await()
                .atMost(LIMIT)
                .until(() -> released.remainingLifetime().isZero());
        assertThat(released.release()).isFalse();
        assertThatCode(released::close).doesNotThrowAnyException();

        LockedDocument<Document> closed =
                new DocumentLocks<>(posts, SHORT).find(1, WRITE, LIMIT).orElseThrow();
        Awaitility.await().atMost(LIMIT).until(() -> closed.remainingLifetime().isZero());
        assertThat(catchThrowableOfType(LockLostException.class, closed::close).reason())
                .isEqualTo(LossReason.EXPIRED);
    }

    /** A7: a lease that a slower mongos wrote down is over by a faster one while its holder believes in it. */
    @Test
    void givenALeaseByASlowerClock_whenAnotherWantsIt_thenOnlyAfterTheAllowedDifference() {
        VersionedCollection<Document> sharded = VersionedCollection.builder(stored)
                .allowedClockSkew(Duration.ofMinutes(2))
                .build();
        DocumentLocks<Document> shardedLocks = new DocumentLocks<>(sharded, LONG);
        LockedDocument<Document> held = shardedLocks.find(1, WRITE).orElseThrow();
        setEnd(Duration.ofMinutes(-1));

        assertThatThrownBy(() -> shardedLocks.find(1, WRITE)).isInstanceOf(LockConflictedException.class);
        assertThatThrownBy(() -> shardedLocks.find(1, DocumentLockMode.NONE))
                .isInstanceOf(LockConflictedException.class);
        assertThatThrownBy(() -> sharded.update(1, Version.of(1), Updates.set("title", "Bar")))
                .isInstanceOf(LockConflictedException.class);

        setEnd(Duration.ofMinutes(-3));
        shardedLocks.find(1, WRITE).orElseThrow().close();
        assertThatThrownBy(held::close).isInstanceOf(LockLostException.class);
    }

    private void setEnd(Duration fromNow) {
        Date end = Date.from(Instant.now().plus(fromNow));
        stored.updateOne(Filters.eq(1), Updates.set("_lock.until", end));
    }
}
