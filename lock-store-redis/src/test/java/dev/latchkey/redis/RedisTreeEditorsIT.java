package dev.latchkey.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Key;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.tree.TreeEditor;
import dev.latchkey.tree.TreeLocks;
import dev.latchkey.tree.TreeRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What many editors of one tree cost a process and the server. */
@Timeout(180)
class RedisTreeEditorsIT {

    private static final int EDITORS = 100;
    private static final Duration WAIT = Duration.ofSeconds(90);

    private static RedisServer server;

    /** How many holds each call of the store renewed. */
    private final List<Integer> batches = new CopyOnWriteArrayList<>();

    @BeforeAll
    static void start() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /** Each holds two ids, so that a round of renewals is 200 commands, in far less than 100 calls. */
    @Test
    void givenAHundredEditors_whenRenewed_thenInBatchesByTheThreadsOfOneFactory() {
        try (RedisStore store = (RedisStore) new RedisStore.Provider().open(server.dsn());
                TreeLocks locks = TreeLocks.of(new Counted(store), "model")
                        .withoutStateRule()
                        .ttl(Duration.ofSeconds(12))
                        .autoRefresh()
                        .create()) {
            Set<Thread> before = threads();
            RedisKeys keys = new RedisKeys(server);
            List<TreeEditor> editors = new ArrayList<>();
            keys.resetCommands();
            for (int i = 0; i < EDITORS; i++) {
                TreeEditor editor = locks.createEditor(id -> id.equals("root") ? List.of() : List.of("root"));
                editor.acquire(TreeRequest.exclusive("element " + i));
                editors.add(editor);
            }
            long acquired = EDITORS;

            await().atMost(WAIT).until(() -> sum(batches) >= 3 * 2 * EDITORS);

            assertThat(batches).hasSizeLessThan(EDITORS / 4);
            assertThat(keys.commands().get("evalsha")).isBetween(acquired + 6L * EDITORS - 1, acquired + 12L * EDITORS);
            assertThat(started(before))
                    .containsOnlyOnce("latchkey-alarm", "latchkey-notifier", "latchkey-renewer")
                    .isSubsetOf("latchkey-alarm", "latchkey-notifier", "latchkey-renewer", "latchkey-cleaner");
            editors.forEach(editor -> assertThat(editor.held()).hasSize(2));
        }
    }

    private static int sum(List<Integer> sizes) {
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
            return store.refreshAll(requests, within);
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
