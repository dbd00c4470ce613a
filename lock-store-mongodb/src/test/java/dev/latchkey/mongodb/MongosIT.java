package dev.latchkey.mongodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import dev.latchkey.Key;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.MongoDbServer;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.Requests;
import java.time.Duration;
import java.util.Date;
import java.util.Objects;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * A7: a {@code mongos} decides by its own clock. The server here greets as one, and is none: another clock is made by writing
 * down the lease as a slower one would have.
 */
class MongosIT {

    private static final Duration SKEW = Duration.ofSeconds(90);

    private static MongoDbServer router;
    private static MongoClient client;

    @BeforeAll
    static void open() {
        router = MongoDbServer.startRouter();
        client = MongoClients.create(router.uri());
    }

    @AfterAll
    static void close() {
        client.close();
        router.close();
    }

    private static MongoDbStore.Builder builder(String collection) {
        return MongoDbStore.builder(client.getDatabase("routed")).collection(collection);
    }

    @Test
    void givenARouter_whenNobodySaidHowFarClocksDiffer_thenRefusedAndNothingIsWritten() {
        try (LockFactory locks = LockFactory.connect(router.dsn("refused"))) {
            assertThatThrownBy(() -> locks.createLock("a").tryAcquire())
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("mongos")
                    .hasMessageContaining("allowedClockSkew");
        }
        assertThat(client.getDatabase("latchkey_test").getCollection("refused").countDocuments())
                .isZero();
    }

    @Test
    void givenARouter_whenTheDsnSaysHowFarClocksDiffer_thenLocked() {
        try (LockFactory locks = LockFactory.connect(router.dsn("allowed") + "&allowedClockSkewMS=2000")) {
            assertThat(locks.createLock("a").tryAcquire()).isTrue();
            assertThat(locks.createLock("a").tryAcquire()).isFalse();
        }
    }

    /** Two held it: the lease of a slower clock was over by the faster one while its holder believed in it. */
    @Test
    void givenALeaseByASlowerClock_whenItIsOverByThisOne_thenTakenOverOnlyAfterTheAllowedDifference() {
        MongoCollection<Document> stored = client.getDatabase("routed").getCollection("exclusive");
        try (MongoDbStore store = builder("exclusive").allowedClockSkew(SKEW).build()) {
            Requests.granted(store.save(Requests.exclusive(Key.of("a"), Duration.ofSeconds(30))));
            setBack(stored, Duration.ofMinutes(1));

            assertThat(store.save(Requests.exclusive(Key.of("a"))))
                    .isInstanceOfSatisfying(
                            Response.Conflicted.class,
                            refused -> assertThat(refused.retryAfter()).isPositive());
            assertThat(store.save(Requests.shared(Key.of("a")))).isInstanceOf(Response.Conflicted.class);

            setBack(stored, Duration.ofMinutes(2));
            Requests.granted(store.save(Requests.exclusive(Key.of("a"))));
        }
    }

    @Test
    void givenAReaderByASlowerClock_whenItsLeaseIsOverByThisOne_thenNobodyWritesBeforeTheAllowedDifference() {
        MongoCollection<Document> stored = client.getDatabase("routed").getCollection("shared");
        try (MongoDbStore store = builder("shared").allowedClockSkew(SKEW).build()) {
            Key reader = Key.of("a");
            Requests.granted(store.save(Requests.shared(reader, Duration.ofSeconds(30))));
            setBack(stored, Duration.ofMinutes(1));
            Key other = Key.of("a");

            Requests.granted(store.save(Requests.shared(other)));
            assertThat(store.save(Requests.exclusive(other))).isInstanceOf(Response.Conflicted.class);
            assertThat(store.delete(reader)).as("it is there still").isTrue();
            Requests.granted(store.save(Requests.exclusive(other)));
        }
    }

    @Test
    void givenASkewThatCannotBe_whenBuilt_thenIllegalArgument() {
        assertThatThrownBy(() -> builder("a").allowedClockSkew(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(
                        () -> builder("a").allowedClockSkew(Duration.ofHours(1)).build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("retention");
    }

    private static void setBack(MongoCollection<Document> stored, Duration by) {
        Document lock = Objects.requireNonNull(stored.find(Filters.eq("a")).first());
        stored.updateOne(
                Filters.eq("a"),
                Updates.combine(
                        Updates.set(Fields.EXPIRES_AT, earlier(lock, by)),
                        lock.getList(Fields.READERS, Document.class).isEmpty()
                                ? Updates.combine()
                                : Updates.set(Fields.READERS + ".0." + Fields.EXPIRES_AT, earlier(lock, by))));
    }

    private static Date earlier(Document lock, Duration by) {
        return Date.from(lock.getDate(Fields.EXPIRES_AT).toInstant().minus(by));
    }
}
