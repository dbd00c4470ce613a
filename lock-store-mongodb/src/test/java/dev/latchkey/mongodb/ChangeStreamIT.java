package dev.latchkey.mongodb;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.MongoDbServer;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.ReleaseSubscription;
import dev.latchkey.spi.StateIndex;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.SharedNotifyingContract;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.bson.BsonString;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Waiters on a replica set are told of a release. */
class ChangeStreamIT implements SharedNotifyingContract {

    private static final Duration LONG = Duration.ofMinutes(10);

    private static MongoDbServer server;

    private final Counting commands = new Counting();
    private MongoClient client;
    private MongoDbStore store;
    private LockFactory locks;

    @BeforeAll
    static void start() {
        server = MongoDbServer.startReplicaSet();
    }

    @AfterAll
    static void end() {
        server.close();
    }

    @BeforeEach
    void open() throws InterruptedException {
        client = commands.client(server.uri());
        store = MongoDbStore.builder(client)
                .database("changes")
                .collection("lock")
                .build();
        locks = new LockFactory(store);
        locks.createLock("warm-up").acquire().release();
    }

    @AfterEach
    void close() {
        locks.close();
        store.close();
        client.close();
    }

    @Override
    public PersistingStore store() {
        return store;
    }

    @Override
    public PersistingStore separateStore() {
        return MongoDbStore.builder(client)
                .database("changes")
                .collection("others")
                .build();
    }

    /** The server has a stream with no other read concern. */
    @Test
    void givenAWeakerWriteConcern_whenWatched_thenTheStreamIsOfWhatAMajorityHas() {
        try (MongoDbStore weaker = MongoDbStore.builder(client)
                        .database("changes")
                        .collection("weaker")
                        .writeConcern(WriteConcern.W1)
                        .build();
                ReleaseSubscription wakeup = weaker.watch("a")) {
            awaitWatching(wakeup);

            assertThat(commands.sent("aggregate"))
                    .isNotEmpty()
                    .allSatisfy(command -> assertThat(command.getDocument("readConcern"))
                            .containsEntry("level", new BsonString("majority")));
        }
    }

    private void awaitReleaseIsTold() throws Exception {
        try (ReleaseSubscription last = store.watch("last")) {
            CompletionStage<?> told = last.next();
            locks.createLock("last").acquire().release();
            told.toCompletableFuture().get(TimeLimits.LIMIT.toSeconds(), TimeUnit.SECONDS);
        }
    }

    /** When a watch begins, all are woken: the first of these may end by that. */
    private void awaitBegunAndTold(ReleaseSubscription wakeup) throws Exception {
        awaitWatching(wakeup);
        awaitReleaseIsTold();
        awaitReleaseIsTold();
    }

    @Test
    void givenAWatch_whenAnotherProcessReleases_thenWokenAndNotByOtherChanges() throws Exception {
        Lock held = locks.createLock("watched", LONG).acquire();
        Lock other = locks.createLock("other", LONG).acquire();
        try (ReleaseSubscription wakeup = store.watch("watched")) {
            awaitBegunAndTold(wakeup);
            CompletionStage<?> next = wakeup.next();
            other.release();
            held.refresh();
            assertThat(locks.createLock("watched").tryAcquire()).isFalse();
            // Releases are told in their order.
            awaitReleaseIsTold();
            assertThat(next.toCompletableFuture()).isNotDone();

            held.release();

            Awaitility.await()
                    .atMost(TimeLimits.LIMIT)
                    .until(() -> next.toCompletableFuture().isDone());
        }
    }

    @Test
    void givenAWatch_whenAStateIndexIsDeleted_thenReleasesAreToldStill() throws Exception {
        store.raise(Map.of("indexed", new StateIndex(1, 0)));
        Lock held = locks.createLock("indexed", LONG).acquire();
        try (ReleaseSubscription wakeup = store.watch("indexed")) {
            awaitBegunAndTold(wakeup);
            CompletionStage<?> next = wakeup.next();
            client.getDatabase("changes")
                    .getCollection("lock")
                    .deleteOne(new Document("_id", new Document(Fields.INDEX_OF, "indexed")));

            held.release();

            Awaitility.await()
                    .atMost(TimeLimits.LIMIT)
                    .until(() -> next.toCompletableFuture().isDone());
            // A stream that fails wakes all as well, and begins anew after a second.
            assertThat(wakeup.isWatching()).isTrue();
        }
    }

    @Test
    void givenWaiters_whenNothingHappens_thenOneCommandASecondAndALookNowAndThen() throws Exception {
        Lock holder = locks.createLock("idle", LONG).acquire();
        Lock second = locks.createLock("idle-2", LONG).acquire();
        BackgroundCall<Lock> waiting =
                BackgroundCall.start(() -> locks.createLock("idle").acquire());
        BackgroundCall<Lock> waitingToo =
                BackgroundCall.start(() -> locks.createLock("idle-2").acquire());
        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> looks() >= 2);
        long start = System.nanoTime();
        commands.forget();

        // For longer where the one that looks stands still.
        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .until(() -> System.nanoTime() - start >= Duration.ofSeconds(5).toNanos() && looks() > 0);

        List<String> sent = commands.sent();
        // Whoever counts may come late.
        long seconds = Duration.ofNanos(System.nanoTime() - start).toSeconds();
        assertThat(sent).hasSizeLessThanOrEqualTo((int) seconds + 6).contains("getMore");
        holder.release();
        second.release();
        assertThat(waiting.result().isAcquired()).isTrue();
        assertThat(waitingToo.result().isAcquired()).isTrue();
    }

    @Test
    void givenWaitingBeside_whenAnotherClientReleases_thenGrantedSoon() throws Exception {
        try (LockFactory others = LockFactory.connect(server.dsn("lock").replace("/latchkey_test", "/changes"))) {
            Lock holder = others.createLock("handed", LONG).acquire();
            BackgroundCall<Lock> waiting =
                    BackgroundCall.start(() -> locks.createLock("handed").acquire());
            Awaitility.await()
                    .atMost(TimeLimits.LIMIT)
                    .until(() -> commands.sent().contains("getMore"));

            holder.release();

            assertThat(waiting.result().isAcquired()).isTrue();
        }
    }

    @Test
    void givenNoReplicaSet_whenWatched_thenItSaysThatItIsNotTold() {
        try (MongoDbServer single = MongoDbServer.start();
                MongoDbStore polling = MongoDbStore.builder(single.dsn("lock")).build();
                ReleaseSubscription wakeup = polling.watch("a")) {
            Awaitility.await()
                    .atMost(TimeLimits.LIMIT)
                    .until(() -> wakeup.next().toCompletableFuture().isDone() || !isListening());
            assertThat(wakeup.isWatching()).isFalse();
        }
    }

    private long looks() {
        return commands.sent().stream().filter("getMore"::equals).count();
    }

    private static boolean isListening() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals("latchkey-mongodb-listener"));
    }

    private static void awaitWatching(ReleaseSubscription wakeup) {
        Awaitility.await().atMost(TimeLimits.LIMIT).until(wakeup::isWatching);
    }
}
