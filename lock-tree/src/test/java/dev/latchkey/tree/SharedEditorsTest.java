package dev.latchkey.tree;

import static dev.latchkey.tree.TestLimit.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.latchkey.store.InMemoryStore;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Many editors of one tree in one process. */
class SharedEditorsTest {

    private static final int EDITORS = 100;
    private static final Duration TTL = Duration.ofSeconds(6);

    private final InMemoryStore memory = new InMemoryStore();
    private final BatchCounter store = new BatchCounter(memory);
    private final TreeLocks locks = TreeLocks.of(store, "tree")
            .withoutStateRule()
            .ttl(TTL)
            .autoRefresh()
            .create();
    private Set<Thread> before = Set.of();

    @BeforeEach
    void rememberThreads() {
        before = threads();
    }

    @AfterEach
    void close() {
        locks.close();
    }

    @Test
    @Tag("slow")
    void givenManyEditors_whenTheyHoldAndAreRenewed_thenTheThreadsAreThoseOfOneFactory() {
        List<TreeEditor> editors = editorsThatHold();
        int renewed = store.renewals().size();
        await().atMost(LIMIT).until(() -> store.renewals().size() >= renewed + 3);

        assertThat(started().stream().map(Thread::getName))
                .containsOnlyOnce("latchkey-alarm", "latchkey-notifier", "latchkey-renewer")
                .isSubsetOf("latchkey-alarm", "latchkey-notifier", "latchkey-renewer", "latchkey-cleaner");
        editors.forEach(editor -> assertThat(editor.held()).hasSize(2));
    }

    /** All were acquired within one window of the renewals, or two. */
    @Test
    @Tag("slow")
    void givenManyEditors_whenTheyAreRenewed_thenTheStoreIsAskedForAllAtOnce() {
        long begun = System.nanoTime();
        List<TreeEditor> editors = editorsThatHold();
        // A window is a thirtieth of the TTL. On a busy machine it takes more of them to acquire all.
        long windows = (System.nanoTime() - begun) / TTL.dividedBy(30).toNanos();
        int ids = 2 * EDITORS;

        await().atMost(LIMIT).until(() -> sum(store.renewals()) >= 3 * ids);

        assertThat(store.renewals()).hasSizeLessThan(Math.toIntExact(EDITORS / 4 + 4 * windows));
        editors.forEach(editor -> assertThat(editor.held()).hasSize(2));
    }

    private static int sum(List<Integer> numbers) {
        return numbers.stream().mapToInt(number -> number).sum();
    }

    @Test
    @Tag("slow")
    void givenOneEditorHasLostItsLocks_whenRenewed_thenOnlyThatOneIsTold() {
        List<String> told = new CopyOnWriteArrayList<>();
        List<TreeEditor> editors = editorsThatHold();
        for (int i = 0; i < EDITORS; i++) {
            String name = "editor " + i;
            editors.get(i).onLost(reason -> told.add(name));
        }

        store.takeAway("tree/node 7");

        await().atMost(LIMIT).until(() -> !told.isEmpty());
        int renewed = sum(store.renewals());
        await().atMost(LIMIT).until(() -> sum(store.renewals()) > renewed + 4 * EDITORS);
        assertThat(told).containsExactly("editor 7");
        assertThat(editors.get(7).held()).isEmpty();
        assertThat(editors.get(8).holdsExclusive("node 8")).isTrue();
    }

    @Test
    @Tag("slow")
    void givenManyEditors_whenOneIsClosed_thenTheOthersHoldAndAreRenewed() {
        List<TreeEditor> editors = editorsThatHold();

        editors.get(3).close();

        assertThat(memory.holders("tree/node 3")).isEmpty();
        int renewed = sum(store.renewals());
        await().atMost(LIMIT).until(() -> sum(store.renewals()) > renewed + 4 * EDITORS);
        editors.remove(3);
        editors.forEach(editor -> assertThat(editor.held()).hasSize(2));
        assertThat(memory.holders("tree/root")).hasSize(EDITORS - 1);
    }

    @Test
    void givenEditorsThatHoldAndWait_whenTheLocksAreClosed_thenAllIsReleasedAndEveryWaitEnds() throws Exception {
        List<TreeEditor> editors = editorsThatHold();
        FutureTask<Void> waiting = new FutureTask<>(() -> {
            locks.createEditor(SharedEditorsTest::parents)
                    .acquire(TreeRequest.exclusive("node 0"), Duration.ofMinutes(5));
            return null;
        });
        Thread waiter = new Thread(waiting, "waiter");
        waiter.start();
        await().atMost(LIMIT).until(() -> waiter.getState() == Thread.State.TIMED_WAITING);

        locks.close();
        locks.close();

        assertThatThrownBy(() -> waiting.get(LIMIT.toSeconds(), TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(TreeConflictException.class);
        assertThat(memory.holders("tree/root")).isEmpty();
        assertThatThrownBy(() -> editors.get(0).acquire(TreeRequest.shared("root")))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> locks.createEditor(SharedEditorsTest::parents))
                .isInstanceOf(IllegalStateException.class);
        await().atMost(LIMIT)
                .until(() ->
                        started().stream().allMatch(thread -> thread.getName().equals("latchkey-cleaner")));
    }

    @Test
    void givenEditorsThatHoldNothing_whenTheApplicationDropsThem_thenNothingIsLeft() {
        List<WeakReference<TreeEditor>> dropped = new ArrayList<>();
        for (int i = 0; i < EDITORS; i++) {
            TreeEditor editor = editor(i);
            editor.releaseAll();
            dropped.add(new WeakReference<>(editor));
        }

        awaitCollected(dropped);

        assertThat(holdStore().size()).isZero();
        await().atMost(LIMIT).until(() -> field(locks, "editors", Set.class).isEmpty());
    }

    /** Otherwise each would stay in memory for ever, because its lease runs out without a release. */
    @Test
    @Tag("slow")
    void givenEditorsWithoutRenewal_whenTheApplicationDropsThemWhileTheyHold_thenTheyDoNotFillTheMemory() {
        try (TreeLocks brief = TreeLocks.of(store, "brief")
                .withoutStateRule()
                .ttl(Duration.ofSeconds(5))
                .create()) {
            TreeEditor last = acquireAndDrop(brief, 3_000);
            await().atMost(LIMIT).until(() -> last.held().isEmpty());

            TreeEditor unused = acquireAndDrop(brief, 3_000);

            EditorLockFactory factory = field(brief, "editorLocks", EditorLockFactory.class);
            assertThat(field(factory, "holdStore", EditorHoldStore.class).size())
                    .isLessThanOrEqualTo(3_000);
        }
    }

    /** Returns the last one. */
    private static TreeEditor acquireAndDrop(TreeLocks locks, int count) {
        TreeEditor editor = TreeEditor.none();
        for (int i = 0; i < count; i++) {
            editor = locks.createEditor(id -> List.of());
            editor.acquire(TreeRequest.shared("root"));
        }
        return editor;
    }

    /** The work may still go on. */
    @Test
    @Tag("slow")
    void givenRenewed_whenTheApplicationDropsTheEditorWhileItHolds_thenTheLocksStayUntilAllAreClosed() {
        WeakReference<TreeEditor> dropped = new WeakReference<>(editor(0));
        awaitCollected(List.of(dropped));
        int renewed = store.renewals().size();
        await().atMost(LIMIT).until(() -> store.renewals().size() > renewed + 4);
        assertThat(memory.holders("tree/node 0")).hasSize(1);

        locks.close();

        assertThat(memory.holders("tree/node 0")).isEmpty();
        assertThat(holdStore().size()).isZero();
    }

    private static void awaitCollected(List<WeakReference<TreeEditor>> dropped) {
        await().atMost(LIMIT).until(() -> {
            System.gc();
            return dropped.stream().allMatch(one -> one.refersTo(null));
        });
    }

    private List<TreeEditor> editorsThatHold() {
        List<TreeEditor> editors = new ArrayList<>();
        for (int i = 0; i < EDITORS; i++) {
            editors.add(editor(i));
        }
        return editors;
    }

    private TreeEditor editor(int number) {
        TreeEditor editor = locks.createEditor(SharedEditorsTest::parents);
        editor.acquire(TreeRequest.exclusive("node " + number));
        return editor;
    }

    private static List<String> parents(String id) {
        return id.equals("root") ? List.of() : List.of("root");
    }

    private EditorHoldStore holdStore() {
        return field(field(locks, "editorLocks", EditorLockFactory.class), "holdStore", EditorHoldStore.class);
    }

    private static <T> T field(Object of, String name, Class<T> type) {
        try {
            var field = of.getClass().getDeclaredField(name);
            field.setAccessible(true);
            return type.cast(field.get(of));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private Set<Thread> started() {
        return threads().stream().filter(thread -> !before.contains(thread)).collect(Collectors.toSet());
    }

    private static Set<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("latchkey-"))
                .collect(Collectors.toSet());
    }
}
