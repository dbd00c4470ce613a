package dev.latchkey.redis;

import static dev.latchkey.testkit.Fixture.LONG_TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.StateIndex;
import dev.latchkey.testkit.BackgroundCall;
import dev.latchkey.testkit.Requests;
import dev.latchkey.testkit.TimeLimits;
import dev.latchkey.tree.TreeEditor;
import dev.latchkey.tree.TreeLocks;
import dev.latchkey.tree.TreeRequest;
import io.lettuce.core.RedisClient;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Batches, counted by the server, and beside those who wait in queues. */
class RedisBatchIT extends WithAStore {

    @Test
    void givenAThousandIds_whenLockedChangedAndGivenUp_thenOneCommandEachAndOneForEachIdToRenew() {
        Set<String> ids =
                IntStream.range(0, 1_000).mapToObj(i -> "element " + i).collect(Collectors.toSet());
        keys.subscribe(locks.createLock("held for a while", LONG_TTL));
        TreeEditor warm = TreeLocks.of(store, "warm").create().createEditor(id -> List.of());
        warm.acquire(TreeRequest.shared("any"));
        warm.refresh();
        warm.pushed(1);
        TreeEditor editor = TreeLocks.of(store, "model")
                .create()
                .createEditor(id -> id.startsWith("element") ? List.of("root") : List.of());
        keys.resetCommands();

        editor.acquire(new TreeRequest(ids, Set.of()));
        assertThat(editor.held()).hasSize(1_001);
        assertThat(keys.commands()).containsEntry("evalsha", 1L).doesNotContainKey("eval");

        editor.refresh();
        assertThat(keys.commands()).containsEntry("evalsha", 1_002L);

        editor.pushed(1);
        assertThat(keys.commands()).containsEntry("evalsha", 1_004L).doesNotContainKey("eval");
        assertThat(keys.held()).isEmpty();
    }

    @Test
    void givenPushed_whenLookedAt_thenOnlyTheIndexesStayForEver() {
        TreeEditor editor = TreeLocks.of(store, "model").create().createEditor(id -> List.of());
        editor.acquire(new TreeRequest(Set.of("a"), Set.of("b")));

        editor.pushed(7);

        assertThat(keys.withoutTtl()).containsExactlyInAnyOrder("lock:{model/a}:i", "lock:{model/b}:i");
        assertThat(server.call("GET", "lock:{model/a}:i")).isEqualTo("7 0");
        assertThat(server.call("GET", "lock:{model/b}:i")).isEqualTo("0 7");
    }

    @Test
    void givenAWriterWaitsForAReader_whenSharedInABatch_thenItIsNotOvertaken() throws Exception {
        Lock reader = locks.createLock("one", LONG_TTL).acquireShared();
        Lock writer = locks.createLock("one", LONG_TTL);
        BackgroundCall<Lock> waiting = BackgroundCall.start(writer::acquire);
        waiting.awaitWaiting();

        BatchAttempt attempt = store.saveAll(List.of(Requests.shared(Key.of("one")), Requests.shared(Key.of("two"))));

        assertThat(attempt)
                .isInstanceOfSatisfying(
                        BatchAttempt.Conflicted.class,
                        conflict -> assertThat(conflict.resources()).containsExactly("one"));
        assertThat(reader.release()).isTrue();
        assertThat(waiting.result().isAcquired()).isTrue();
    }

    @Test
    void givenReadersWait_whenTheBatchInFrontIsGivenUp_thenAllOfThemAreServed() throws Exception {
        Key one = Key.of("one");
        Key two = Key.of("two");
        assertThat(store.saveAll(List.of(Requests.exclusive(one), Requests.exclusive(two))))
                .isInstanceOf(BatchAttempt.Granted.class);
        List<BackgroundCall<Lock>> waiting = List.of(waitShared("one"), waitShared("one"), waitShared("two"));

        assertThat(store.deleteAll(List.of(one, two))).isEqualTo(2);

        for (BackgroundCall<Lock> wait : waiting) {
            assertThat(wait.result().isAcquired()).isTrue();
        }
    }

    @Test
    void givenAReaderWaitsBehindAWriterInABatch_whenThatIsDemoted_thenTheReaderIsServed() throws Exception {
        Key key = Key.of("one");
        Response.Granted granted = Requests.granted(store.save(Requests.exclusive(key)));
        BackgroundCall<Lock> waiting = waitShared("one");

        BatchAttempt attempt = store.saveAll(List.of(Requests.shared(Requests.holding(key, granted))));

        assertThat(attempt).isInstanceOf(BatchAttempt.Granted.class);
        assertThat(waiting.result().isAcquired()).isTrue();
    }

    @Test
    void givenAKeyHoldsSomethingElse_whenBatched_thenRefusedAndNothingTaken() {
        server.call("SET", "lock:{two}", "a letter");

        assertThatThrownBy(() ->
                        store.saveAll(List.of(Requests.exclusive(Key.of("one")), Requests.exclusive(Key.of("two")))))
                .hasMessageContaining("not a lock");

        assertThat(keys.held()).isEmpty();
        assertThat(server.call("GET", "lock:{two}")).isEqualTo("a letter");
    }

    @Test
    void givenHashTag_whenUsed_thenAllKeysHaveIt() {
        try (RedisStore tagged = open(PatientDsn.redis(server.dsn() + "?hash-tag=model-42"))) {
            Key key = Key.of("a}b");
            Requests.granted(tagged.save(Requests.exclusive(key)));
            tagged.raise(Map.of("a}b", new StateIndex(1, 2)));

            assertThat(keys.all()).containsExactlyInAnyOrder("lock:{=model-42}{a}b}", "lock:{=model-42}{a}b}:i");
            assertThat(tagged.delete(key)).isTrue();
        }
    }

    /** F6: an index that no replica has is forgotten by a failover, as a lock is. */
    @Test
    void givenNoReplica_whenRaised_thenItFailsAsALockDoes() {
        RedisClient client = RedisClient.create(server.dsn());
        try (RedisStore replicated = RedisStore.builder(client)
                .replicas(1, Duration.ofMillis(20))
                .commandTimeout(TimeLimits.LIMIT)
                .build()) {
            Key key = Key.of("raised");
            Requests.granted(store.save(Requests.exclusive(key)));

            assertThatThrownBy(() -> replicated.raise(Map.of("a", new StateIndex(5, 0))))
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("0 of 1 replicas");
            assertThatThrownBy(() -> replicated.raiseFence(
                            key, store.find(key).orElseThrow().fencingToken().orElseThrow() + 1))
                    .isInstanceOf(LockStorageException.class)
                    .hasMessageContaining("0 of 1 replicas");
        } finally {
            client.shutdown(0, 2, TimeUnit.SECONDS);
        }
    }

    /** F7: one script about a hundred thousand resources has the server do nothing else for seconds. */
    @Test
    void givenManyThousands_whenRenewedRaisedAndGivenUp_thenBySeveralCommands() {
        try (RedisStore patient = open(server.dsn() + "?timeout=60s")) {
            // What it holds when it has subscribed to forced releases, it asks for one by one.
            keys.subscribe(new LockFactory(patient).createLock("first", LONG_TTL));
            List<Key> taken =
                    IntStream.range(0, 12_001).mapToObj(i -> Key.of("id " + i)).toList();
            var granted = (BatchAttempt.Granted)
                    patient.saveAll(taken.stream().map(Requests::exclusive).toList());
            List<Key> held = IntStream.range(0, taken.size())
                    .mapToObj(
                            i -> Requests.holding(taken.get(i), granted.grants().get(i)))
                    .toList();
            keys.resetCommands();

            var renewed = (BatchAttempt.Granted)
                    patient.saveAll(held.stream().map(Requests::exclusive).toList());
            assertThat(renewed.grants()).hasSameSizeAs(held);
            // The store may ask for one more hold by itself.
            assertThat(keys.commands().get("evalsha")).isBetween(3L, 4L);

            patient.raise(taken.stream().collect(Collectors.toMap(Key::resource, key -> new StateIndex(3, 1))));
            assertThat(patient.indexes(taken.stream().map(Key::resource).toList()))
                    .hasSameSizeAs(held)
                    .containsValue(new StateIndex(3, 1));
            keys.resetCommands();

            assertThat(patient.deleteAll(taken)).isEqualTo(held.size());
            assertThat(keys.commands().get("evalsha")).isBetween(1L, 3L);
            assertThat(patient.saveAll(held.stream().map(Requests::exclusive).toList()))
                    .isInstanceOf(BatchAttempt.Lost.class);
        }
    }

    private BackgroundCall<Lock> waitShared(String resource) {
        Lock lock = locks.createLock(resource, LONG_TTL);
        BackgroundCall<Lock> waiting = BackgroundCall.start(lock::acquireShared);
        waiting.awaitWaiting();
        return waiting;
    }
}
