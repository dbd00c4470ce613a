package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Key;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.testkit.TimeLimits;
import dev.latchkey.tree.TreeEditor;
import dev.latchkey.tree.TreeLocks;
import dev.latchkey.tree.TreeRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What many editors of one tree cost a process and the server. */
class RedisTreeEditorsIT {

    private static final int EDITORS = 100;
    private static final int ROUNDS = 3;
    private static final Duration TTL = TimeLimits.ttl(Duration.ofSeconds(12));

    private static RedisServer server;

    /** How many holds each call of the store renewed. */
    private final List<Integer> batches = new CopyOnWriteArrayList<>();

    private final AtomicLong answered = new AtomicLong();

    @BeforeAll
    static void start() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /**
     * Each holds two ids, so that a round of renewals is 200 commands. However far apart the editors have come, they are renewed
     * in a few calls: what falls due within a thirtieth of the TTL is due together, and all is due within a third.
     */
    @Test
    void givenAHundredEditors_whenRenewed_thenInBatchesByTheThreadsOfOneFactory() {
        try (RedisStore store = (RedisStore) new RedisStore.Provider().open(PatientDsn.redis(server.dsn()));
                TreeLocks locks = TreeLocks.of(new Counted(store), "model")
                        .withoutStateRule()
                        .ttl(TTL)
                        .autoRefresh()
                        .create()) {
            Set<Thread> before = threads();
            RedisKeys keys = new RedisKeys(server);
            List<TreeEditor> editors = new ArrayList<>();
            for (int i = 0; i < EDITORS; i++) {
                TreeEditor editor = locks.createEditor(id -> id.equals("root") ? List.of() : List.of("root"));
                editor.acquire(TreeRequest.exclusive("element " + i));
                editors.add(editor);
            }

            // By then the store has subscribed to forced releases, and has asked for what it held before.
            awaitAnswered(2 * EDITORS);
            long answeredBefore = answered.get();
            long scriptsBefore = keys.scripts();
            long askedBefore = sum(batches);

            awaitAnswered(ROUNDS * 2 * EDITORS);

            long answeredAfter = answered.get();
            long scripts = keys.scripts() - scriptsBefore;
            List<Integer> asked = List.copyOf(batches);
            assertThat(scripts).isBetween(answeredAfter - askedBefore, sum(asked) - answeredBefore);
            assertThat((long) asked.size()).isLessThan(sum(asked) / 8);
            assertThat(started(before))
                    .containsOnlyOnce("latchkey-alarm", "latchkey-notifier", "latchkey-renewer")
                    .isSubsetOf("latchkey-alarm", "latchkey-notifier", "latchkey-renewer", "latchkey-cleaner");
            editors.forEach(editor -> assertThat(editor.held()).hasSize(2));
        }
    }

    private void awaitAnswered(long renewals) {
        await().atMost(TimeLimits.LIMIT.plus(TTL.multipliedBy(ROUNDS))).until(() -> answered.get() >= renewals);
    }

    private static long sum(List<Integer> sizes) {
        return sizes.stream().mapToInt(size -> size).sum();
    }

    /** Without those of the store, which are the same whoever uses it. */
    private static List<String> started(Set<Thread> before) {
        return threads().stream()
                .filter(thread -> !before.contains(thread))
                .map(Thread::getName)
                .filter(name -> name.startsWith("latchkey-") && !name.startsWith("latchkey-redis"))
                .toList();
    }

    private static Set<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream().collect(Collectors.toSet());
    }

    /** A store that notes the sizes of its renewals. */
    private final class Counted implements ExpiringStore {

        private final RedisStore store;

        Counted(RedisStore store) {
            this.store = store;
        }

        @Override
        public List<RefreshResult> refreshAll(List<Request> requests, Duration within) {
            batches.add(requests.size());
            List<RefreshResult> results = store.refreshAll(requests, within);
            answered.addAndGet(requests.size());
            return results;
        }

        @Override
        public boolean refreshesAtOnce() {
            return store.refreshesAtOnce();
        }

        @Override
        public Response refresh(Request request) {
            return store.refresh(request);
        }

        @Override
        public Response save(Request request) {
            return store.save(request);
        }

        @Override
        public boolean delete(Key key) {
            return store.delete(key);
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return store.find(key);
        }

        @Override
        public <T> Optional<T> capability(Class<T> type) {
            return type == ExpiringStore.class ? Optional.of(type.cast(this)) : store.capability(type);
        }
    }
}
