package dev.latchkey.mongodb;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.client.MongoClient;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.servers.MongoDbServer;
import dev.latchkey.spi.StateIndex;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.TimeLimits;
import dev.latchkey.tree.TreeEditor;
import dev.latchkey.tree.TreeLocks;
import dev.latchkey.tree.TreeRequest;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.bson.BsonInt32;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the client sends, counted there. */
class CostIT {

    private static final Duration IDLE = Duration.ofSeconds(5);

    private final Counting commands = new Counting();
    private MongoDbServer server;
    private MongoClient client;
    private MongoDbStore store;
    private LockFactory locks;

    @BeforeEach
    void open() throws InterruptedException {
        server = MongoDbServer.start();
        client = commands.client(server.uri());
        store = MongoDbStore.builder(client).database("cost").collection("lock").build();
        locks = new LockFactory(store);
        locks.createLock("warm-up").acquire().release();
        commands.forget();
    }

    @AfterEach
    void close() {
        locks.close();
        store.close();
        client.close();
        server.close();
    }

    @Test
    void givenOneHolder_whenItAcquiresAndReleases_thenTwoCommands() throws Exception {
        for (int i = 0; i < 50; i++) {
            locks.createLock("counted-" + i % 10).acquire().release();
        }

        List<String> cycle = List.of("findAndModify", "findAndModify");
        assertThat(commands.sent())
                .isEqualTo(Collections.nCopies(50, cycle).stream()
                        .flatMap(List::stream)
                        .toList());
    }

    /** From 4.4 on the server waits for all voting members to be ready, also for one that is down. */
    @Test
    void givenTheIndexIsDue_whenReleased_thenItMayTakeFiveSecondsAtMost() throws Exception {
        try (MongoDbStore fresh = MongoDbStore.builder(client)
                        .database("cost")
                        .collection("due")
                        .build();
                LockFactory first = new LockFactory(fresh)) {
            first.createLock("a").acquire().release();
        }

        assertThat(commands.sent("createIndexes"))
                .singleElement()
                .extracting(command ->
                        command.getNumber("maxTimeMS", new BsonInt32(0)).intValue())
                .isEqualTo(5_000);
    }

    @Test
    void givenTheIndexIsLeftToTheApplication_whenReleased_thenItIsOnlyMadeWhenAskedFor() throws Exception {
        try (MongoDbStore fresh = MongoDbStore.builder(client)
                        .database("cost")
                        .collection("existing")
                        .existingIndex()
                        .build();
                LockFactory first = new LockFactory(fresh)) {
            first.createLock("a").acquire().release();
            assertThat(commands.sent("createIndexes")).isEmpty();

            fresh.createIndexes();

            assertThat(commands.sent("createIndexes")).hasSize(1);
        }
    }

    @Test
    void givenOneReader_whenItAcquiresAndReleases_thenTwoCommands() throws Exception {
        for (int i = 0; i < 10; i++) {
            locks.createLock("counted").acquireShared().release();
        }

        assertThat(commands.count()).isEqualTo(20);
    }

    @Test
    void givenALock_whenItRefreshesPromotesAndDemotes_thenOneCommandEach() throws Exception {
        Lock lock = locks.createLock("counted").acquireShared();
        lock.refresh();
        lock.acquire();
        lock.refresh();
        lock.acquireShared();
        assertThat(lock.isAcquired()).isTrue();
        lock.release();

        assertThat(commands.sent())
                .isEqualTo(Stream.of(
                                "findAndModify",
                                "findAndModify",
                                "findAndModify",
                                "findAndModify",
                                "findAndModify",
                                "aggregate",
                                "findAndModify")
                        .toList());
    }

    @Test
    void givenATree_whenLockedPushedAndGivenUp_thenOneCommandForEachIdAndOneForAllIndexes() {
        Map<String, List<String>> parents =
                Map.of("pump", List.of("hall"), "hall", List.of("plant"), "plant", List.of());
        try (TreeLocks locks = TreeLocks.of(store, "counted").create();
                TreeEditor editor = locks.createEditor(parents::get)) {
            editor.acquire(TreeRequest.exclusive("pump"));
            assertThat(commands.sent()).containsExactly("findAndModify", "findAndModify", "findAndModify", "find");
            commands.forget();

            editor.pushed(1);

            assertThat(commands.sent()).containsExactly("update", "findAndModify", "findAndModify", "findAndModify");
        }
    }

    @Test
    void givenManyIndexes_whenRaisedAndLookedUp_thenOneCommandEach() {
        Map<String, StateIndex> raised = new HashMap<>();
        IntStream.range(0, 1_000).forEach(i -> raised.put("many/" + i, new StateIndex(i, 1)));

        store.raise(raised);

        assertThat(store.indexes(raised.keySet())).isEqualTo(raised);
        assertThat(store.indexes(List.of())).isEmpty();
        assertThat(commands.sent()).containsExactly("update", "find");
    }

    @Test
    void givenARefusedTry_whenAnotherHolds_thenOneCommandEach() {
        Lock holder = locks.createLock("held");
        assertThat(holder.tryAcquire()).isTrue();
        assertThat(locks.createLock("held").tryAcquire()).isFalse();
        commands.forget();

        for (int i = 0; i < 10; i++) {
            assertThat(locks.createLock("held").tryAcquire()).isFalse();
        }

        assertThat(commands.sent()).isEqualTo(Collections.nCopies(10, "findAndModify"));
    }

    @Test
    void givenAWaiter_whenNothingHappens_thenAtMostTwoCommandsASecond() throws Exception {
        Lock holder = locks.createLock("held").acquire();
        BackgroundCall<Lock> waiting =
                BackgroundCall.start(() -> locks.createLock("held").acquire());
        Awaitility.await().atMost(TimeLimits.LIMIT).until(() -> commands.count() >= 15);
        long start = System.nanoTime();
        long before = commands.count();

        // For longer where the waiter stands still.
        Awaitility.await()
                .atMost(TimeLimits.LIMIT)
                .until(() -> System.nanoTime() - start >= IDLE.toNanos() && commands.count() > before);

        long sent = commands.count() - before;
        // Whoever counts may come late.
        Duration counted = Duration.ofNanos(System.nanoTime() - start);
        assertThat(sent).isBetween(1L, 2 * (counted.toSeconds() + 1));
        holder.release();
        assertThat(waiting.result().isAcquired()).isTrue();
    }
}
