package dev.latchkey.documents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoNodeIsRecoveringException;
import com.mongodb.ServerAddress;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import dev.latchkey.LockConflictedException;
import dev.latchkey.LockLostException;
import dev.latchkey.LossReason;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import org.awaitility.Awaitility;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.Document;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is believed of a lock after answers that are late, writes that half fail, edits by hand, and within transactions. */
class LockBeliefIT {

    private static final DocumentLockMode READ = DocumentLockMode.PESSIMISTIC_READ;
    private static final DocumentLockMode WRITE = DocumentLockMode.PESSIMISTIC_WRITE;
    private static final Duration LIMIT = TimeLimits.LIMIT;
    private static final Duration LONG = Duration.ofMinutes(5);

    private final MongoCollection<Document> stored = TestDatabase.newCollection();
    private final VersionedCollection<Document> posts = VersionedCollection.of(stored);
    private final DocumentLocks<Document> locks = new DocumentLocks<>(posts, LONG);

    @BeforeEach
    void insert() {
        posts.insert(new Document("_id", 1).append("title", "Foo"));
    }

    private void edit(String field, Object value) {
        stored.updateOne(Filters.eq(1), Updates.set(field, value));
    }

    private void endLease(String field) {
        edit(field, Date.from(Instant.now().minus(Duration.ofHours(1))));
    }

    /** The next write failed with NoSuchElementException: the late answer had wiped out why the lock was lost. */
    @Test
    void givenARenewalIsAnsweredAfterAWriteFoundTheLoss_whenWrittenAgain_thenLostWithItsReason() throws Exception {
        Interposed.Stop stop = new Interposed.Stop(2);
        MongoCollection<Document> slow = Interposed.after(stop)
                .database(TestDatabase.DATABASE)
                .getCollection(stored.getNamespace().getCollectionName());
        LockedDocument<Document> dead = new DocumentLocks<>(VersionedCollection.of(slow), LONG)
                .find(1, WRITE)
                .orElseThrow();
        BackgroundCall<LockLostException> renewing =
                BackgroundCall.start(() -> catchThrowableOfType(LockLostException.class, dead::refresh));
        Awaitility.await().atMost(LIMIT).until(stop::isThere);
        endLease("_lock.until");
        locks.find(1, WRITE, LIMIT).orElseThrow().close();
        assertThatThrownBy(() -> dead.replace(dead.document())).isInstanceOf(LockLostException.class);

        stop.goOn();

        assertThat(renewing.result()).isNotNull();
        assertThat(dead.mode()).isEqualTo(DocumentLockMode.NONE);
        assertThat(dead.remainingLifetime()).isZero();
        assertThat(catchThrowableOfType(LockLostException.class, () -> dead.replace(dead.document()))
                        .reason())
                .isEqualTo(LossReason.TAKEN_OVER);
        assertThatCode(dead::close).as("told already").doesNotThrowAnyException();
    }

    /** It was told that others read the document, and that its lock was held still. */
    @Test
    void givenAReaderWhoseLeaseIsOver_whenWritten_thenLostAndNoConflict() {
        LockedDocument<Document> dead = locks.find(1, READ).orElseThrow();
        endLease("_lock.readers.0.until");

        LockLostException told = catchThrowableOfType(LockLostException.class, () -> dead.replace(dead.document()));

        assertThat(told.reason()).isEqualTo(LossReason.EXPIRED);
        assertThat(dead.mode()).isEqualTo(DocumentLockMode.NONE);
    }

    @Test
    void givenAReaderBesideAnother_whenWritten_thenConflictAndHeldStill() {
        try (LockedDocument<Document> one = locks.find(1, READ).orElseThrow();
                LockedDocument<Document> other = locks.find(1, READ).orElseThrow()) {
            assertThatThrownBy(() -> one.replace(one.document())).isInstanceOf(LockConflictedException.class);
            assertThat(one.mode()).isEqualTo(READ);
            assertThat(other.release()).isTrue();
            one.replace(one.document());
        }
    }

    /** The lock that the server had freed was believed in: what came back could not be decoded. */
    @Test
    void givenTheLastWriteIsDoneButItsResultCannotBeRead_whenAnotherLocks_thenOnlyThatOneBelievesInIt() {
        UnaryOperator<Document> refusing = document -> {
            if ("unreadable".equals(document.get("title"))) {
                throw new IllegalArgumentException("as a decoder would");
            }
            return document;
        };
        DocumentLocks<Document> decoding =
                new DocumentLocks<>(VersionedCollection.of(stored, refusing, document -> document), LONG);
        LockedDocument<Document> held = decoding.find(1, WRITE).orElseThrow();
        Document last = held.document().append("title", "unreadable");

        assertThatThrownBy(() -> held.saveAndRelease(last)).isInstanceOf(IllegalArgumentException.class);

        assertThat(locks.find(1, WRITE)).isPresent();
        assertThat(held.mode()).isEqualTo(DocumentLockMode.NONE);
        assertThat(held.remainingLifetime()).isZero();
        assertThatCode(held::close).doesNotThrowAnyException();
    }

    /** The driver marks only what it would repeat itself: not without its {@code retryWrites}, nor on a standalone server. */
    @ParameterizedTest
    @ValueSource(ints = {89, 189, 11_600, 11_602})
    void givenTheLastWriteIsDoneButTheServerCannotTell_whenAnotherLocks_thenOnlyThatOneBelievesInIt(int code) {
        AtomicBoolean fails = new AtomicBoolean();
        MongoCollection<Document> failing = Interposed.after(number -> {
                    if (fails.get()) {
                        throw refusal(code);
                    }
                })
                .database(TestDatabase.DATABASE)
                .getCollection(stored.getNamespace().getCollectionName());
        LockedDocument<Document> held = new DocumentLocks<>(VersionedCollection.of(failing), LONG)
                .find(1, WRITE)
                .orElseThrow();
        fails.set(true);

        assertThatThrownBy(() -> held.saveAndRelease(held.document().append("title", "Bar")))
                .isInstanceOf(MongoCommandException.class);

        fails.set(false);
        assertThat(locks.find(1, WRITE))
                .hasValueSatisfying(now -> assertThat(now.document()).containsEntry("title", "Bar"));
        assertThat(held.mode()).isEqualTo(DocumentLockMode.NONE);
        assertThat(held.remainingLifetime()).isZero();
        assertThatCode(held::close).doesNotThrowAnyException();
    }

    /** As the driver makes it of an answer: a router's that lost its shard, or that of a server which steps or shuts down. */
    private static MongoCommandException refusal(int code) {
        BsonDocument answer = new BsonDocument("ok", new BsonInt32(0))
                .append("code", new BsonInt32(code))
                .append("errmsg", new BsonString("as a server would say"));
        return code == 89
                ? new MongoCommandException(answer, new ServerAddress())
                : new MongoNodeIsRecoveringException(answer, new ServerAddress());
    }

    @Test
    void givenAVersionThatCannotBeRead_whenSavedForTheLastTime_thenNothingIsGivenUp() {
        try (LockedDocument<Document> held = locks.find(1, WRITE).orElseThrow()) {
            Document wrong = held.document().append("version", "one");

            assertThatThrownBy(() -> held.saveAndRelease(wrong)).isInstanceOf(IllegalStateException.class);

            assertThat(held.mode()).isEqualTo(WRITE);
            held.refresh();
        }
    }

    /** C31: the driver's BsonInvalidOperationException came, and a lock that had been granted stayed. */
    @Test
    void givenALockEditedByHand_whenWrittenOrTaken_thenLostOrGrantedAsEver() {
        LockedDocument<Document> freed = locks.find(1, WRITE).orElseThrow();
        edit("_lock", BsonNull.VALUE);
        assertThatThrownBy(() -> freed.replace(freed.document())).isInstanceOf(LockLostException.class);

        edit("_lock", new Document("fencingToken", 5));
        try (LockedDocument<Document> reader = locks.find(1, READ).orElseThrow()) {
            reader.promote();
            assertThat(reader.fencingToken()).isGreaterThan(5);
        }
    }

    /** A lock that is taken within a transaction vanishes with it, and one that is released there blocks it. */
    @Test
    void givenASession_whenLockedOrReleasedWithin_thenRefusedAndTheLockIsKept() {
        ClientSession session = (ClientSession) Proxy.newProxyInstance(
                ClientSession.class.getClassLoader(),
                new Class<?>[] {ClientSession.class},
                (self, method, arguments) -> {
                    throw new AssertionError("nothing is sent in it, but " + method);
                });
        assertThatThrownBy(() -> new DocumentLocks<>(posts.in(session), LONG))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("session");

        try (LockedDocument<Document> held = locks.find(1, WRITE).orElseThrow()) {
            LockedDocument<Document> view = held.in(session);
            assertThatThrownBy(view::release).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(view::refresh).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(view::promote).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(view::demote).isInstanceOf(IllegalStateException.class);
            view.close();

            assertThat(held.mode()).isEqualTo(WRITE);
            assertThatThrownBy(() -> locks.find(1, WRITE)).isInstanceOf(LockConflictedException.class);
        }
    }
}
