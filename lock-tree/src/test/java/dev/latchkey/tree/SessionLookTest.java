package dev.latchkey.tree;

import static dev.latchkey.tree.TestLimit.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.entry;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Key;
import dev.latchkey.LockLostException;
import dev.latchkey.LockMode;
import dev.latchkey.LossReason;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.BatchStore;
import dev.latchkey.spi.Lease;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.spi.StateIndex;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** An editor who looks once its session may be over, before the store has come to tell of that. */
class SessionLookTest {

    private static final StateIndex SHARED_1 = new StateIndex(0, 1);

    private final Sessions store = new Sessions();
    private final TreeEditor editor = TreeLocks.of(store, "tree")
            .withoutStateRule()
            .create()
            .createEditor(id -> id.equals("part") ? List.of("model") : List.of());

    /** What was held was given up in the store by then, which seemed to be nothing held, and nothing lost. */
    @Test
    void givenSeenLost_whenMoreIsLocked_thenLostUntilAllIsReleased() {
        editor.acquire(TreeRequest.exclusive("model"));
        store.endSession();

        assertLost(() -> editor.checkExclusive("model"));
        await().atMost(LIMIT).until(() -> store.memory.holders("tree/model").isEmpty());

        assertLost(() -> editor.acquire(TreeRequest.exclusive("part")));
        assertLost(editor::refresh);
        assertLost(() -> editor.checkExclusive("model"));
        editor.releaseAll();
        editor.acquire(TreeRequest.exclusive("part"));
        editor.checkExclusive("part");
    }

    /** What it pushes nevertheless is seen by whoever locks it next; what it holds later is another matter. */
    @Test
    void givenSeenLost_whenPushed_thenRecordedForAllThatWasHeld() {
        TreeLocks locks = TreeLocks.of(store, "tree").indexes(store.memory).create();
        TreeEditor pushing = locks.createEditor(id -> id.equals("part") ? List.of("model") : List.of());
        pushing.acquire(TreeRequest.exclusive("part"));
        store.endSession();
        assertLost(() -> pushing.checkExclusive("part"));
        await().atMost(LIMIT).until(() -> store.memory.holders("tree/part").isEmpty());

        assertLost(() -> pushing.pushed(1));

        assertThat(indexes()).containsOnly(entry("tree/part", new StateIndex(1, 0)), entry("tree/model", SHARED_1));
        assertThatExceptionOfType(PullRequiredException.class)
                .isThrownBy(() -> locks.createEditor(id -> List.of()).acquire(TreeRequest.exclusive("part")));
        pushing.releaseAll();
        pushing.pulled(1);
        pushing.acquire(TreeRequest.exclusive("model"));
        pushing.pushed(2);
        assertThat(indexes())
                .containsOnly(entry("tree/part", new StateIndex(1, 0)), entry("tree/model", new StateIndex(2, 1)));
    }

    private Map<String, StateIndex> indexes() {
        return store.memory.indexes(List.of("tree/model", "tree/part"));
    }

    /** It was held without what is above it, which somebody else could have then. */
    @Test
    void givenSeenLostWhileMoreIsLocked_whenGranted_thenLost() {
        editor.acquire(TreeRequest.shared("model"));
        store.before = () -> {
            store.endSession();
            assertLost(() -> editor.checkShared("model"));
            await().atMost(LIMIT).until(() -> store.memory.holders("tree/model").isEmpty());
        };

        assertLost(() -> editor.acquire(TreeRequest.exclusive("part")));

        assertThat(editor.held()).isEmpty();
        editor.releaseAll();
        assertThat(store.memory.holders("tree/part")).isEmpty();
        editor.acquire(TreeRequest.exclusive("part"));
        assertThat(editor.held()).containsOnlyKeys("model", "part").containsEntry("part", LockMode.EXCLUSIVE);
    }

    private static void assertLost(ThrowingCallable call) {
        assertThatExceptionOfType(LockLostException.class)
                .isThrownBy(call)
                .satisfies(lost -> assertThat(lost.reason()).isEqualTo(LossReason.SESSION_LOST))
                .satisfies(lost -> assertThat(lost.resource()).isEqualTo("tree"));
    }

    /** Holds last as long as a session, of whose end only a look at the clock tells. */
    private static final class Sessions implements SharedStore, BatchStore {

        private final InMemoryStore memory = new InMemoryStore();
        private volatile AtomicBoolean session = new AtomicBoolean(true);
        private Runnable before = () -> {};

        void endSession() {
            session.set(false);
            session = new AtomicBoolean(true);
        }

        private Response.Granted inSession(Response.Granted granted) {
            return new Response.Granted(
                    granted.mode(), granted.fencingToken(), Lease.session(new CompletableFuture<>(), session::get));
        }

        private static Request endless(Request request) {
            return new Request(request.key(), request.mode(), Duration.ofDays(1), request.retryIntent());
        }

        @Override
        public BatchAttempt saveAll(List<Request> requests) {
            Runnable first = before;
            before = () -> {};
            first.run();
            return memory.saveAll(requests.stream().map(Sessions::endless).toList()) instanceof BatchAttempt.Granted all
                    ? new BatchAttempt.Granted(
                            all.grants().stream().map(this::inSession).toList())
                    : new BatchAttempt.Conflicted(Set.of(), Duration.ZERO);
        }

        @Override
        public int deleteAll(List<Key> keys) {
            return memory.deleteAll(keys);
        }

        @Override
        public Response save(Request request) {
            return memory.save(endless(request)) instanceof Response.Granted granted
                    ? inSession(granted)
                    : Response.Conflicted.NO_HINT;
        }

        @Override
        public boolean delete(Key key) {
            return memory.delete(key);
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return memory.find(key).map(this::inSession);
        }
    }
}
