package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.BatchStore;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.IndexStore;
import dev.latchkey.spi.IndexedBatchStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.store.InMemoryStore;
import dev.latchkey.store.NullStore;
import dev.latchkey.tree.PullRequiredException;
import dev.latchkey.tree.TreeConflictException;
import dev.latchkey.tree.TreeEditor;
import dev.latchkey.tree.TreeLocks;
import dev.latchkey.tree.TreeRequest;
import dev.latchkey.tree.TreeSavepoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TreeLocksTest {

    private final Recorder store = new Recorder();
    private final TreeLocks locks = TreeLocks.of(store, "tree").create();
    private final TreeEditor editor = tree(TreeLocksContract.PARENTS);

    @Test
    void givenTheTreeOfFive_whenLockedStepByStep_thenEachStepIsOneCallForWhatIsMissing() {
        editor.acquire(TreeRequest.shared("child1"));
        assertThat(store.asked()).containsExactly("5 shared 0 exclusive");

        editor.acquire(TreeRequest.exclusive("child1"));
        assertThat(editor.held().values())
                .containsExactlyInAnyOrder(
                        LockMode.EXCLUSIVE, LockMode.SHARED, LockMode.SHARED, LockMode.SHARED, LockMode.SHARED);
        assertThat(store.asked()).containsExactly("0 shared 1 exclusive");

        editor.releaseAll();
        assertThat(store.asked()).containsExactly("gave up 5");
        editor.acquire(new TreeRequest(Set.of("parent"), Set.of("parent")));
        assertThat(store.asked()).containsExactly("3 shared 1 exclusive");

        editor.releaseAll();
        assertThat(store.asked()).containsExactly("gave up 4");
        editor.acquire(TreeRequest.exclusive("model"));
        assertThat(store.asked()).containsExactly("2 shared 1 exclusive");

        editor.releaseAll();
        assertThat(store.asked()).containsExactly("gave up 3");
        editor.acquire(TreeRequest.exclusive("root"));
        assertThat(store.asked()).containsExactly("0 shared 1 exclusive");
    }

    @Test
    void givenHeldOrCovered_whenLockedAgain_thenTheStoreIsNotAsked() {
        editor.acquire(TreeRequest.exclusive("model"));
        assertThat(store.asked()).hasSize(1);

        editor.acquire(TreeRequest.exclusive("model"));
        editor.acquire(TreeRequest.shared("model", "subject", "root"));
        editor.acquire(TreeRequest.exclusive("child1", "child2", "parent"));
        editor.acquire(new TreeRequest(Set.of(), Set.of()));

        assertThat(store.asked()).isEmpty();
    }

    @Test
    void givenSharedBelowTheSchemaLock_whenLockedExclusively_thenTheStoreIsNotAsked() {
        editor.acquire(TreeRequest.shared("child1"));
        editor.acquire(TreeRequest.exclusive("root"));
        assertThat(store.asked()).hasSize(2);

        editor.acquire(TreeRequest.exclusive("child1", "dictionary"));

        assertThat(store.asked()).isEmpty();
    }

    @Test
    void givenSeveralParents_whenOneOfThemIsHeld_thenOnlyTheOtherWaysAreAsked() {
        TreeEditor one = tree(diamond());
        one.acquire(TreeRequest.exclusive("left"));
        assertThat(store.asked()).hasSize(1);
        assertThat(one.holdsExclusive("leaf")).isFalse();

        one.acquire(TreeRequest.exclusive("leaf"));

        assertThat(store.asked()).containsExactly("1 shared 1 exclusive");
        assertThat(one.held())
                .isEqualTo(Map.of(
                        "top", LockMode.SHARED,
                        "left", LockMode.EXCLUSIVE,
                        "right", LockMode.SHARED,
                        "leaf", LockMode.EXCLUSIVE));
    }

    @Test
    void givenSeveralParents_whenTwoEditorsHoldOneEach_thenNeitherCoversTheChild() {
        TreeEditor one = tree(diamond());
        TreeEditor two = tree(diamond());
        one.acquire(TreeRequest.exclusive("left"));
        two.acquire(TreeRequest.exclusive("right"));

        assertThat(one.holdsExclusive("leaf") || two.holdsExclusive("leaf")).isFalse();
        assertThatThrownBy(() -> one.acquire(TreeRequest.exclusive("leaf")))
                .isInstanceOf(TreeConflictException.class)
                .hasMessageContaining("\"right\"");
    }

    @Test
    void givenSeveralParents_whenAllAreHeld_thenTheChildIsCovered() {
        TreeEditor one = tree(diamond());

        one.acquire(TreeRequest.exclusive("left", "right"));

        assertThat(one.holdsExclusive("leaf")).isTrue();
    }

    @Test
    void givenCycle_whenLocked_thenRefusedWithTheWayRoundAndNothingAsked() {
        TreeEditor one = tree(Map.of("a", List.of("b"), "b", List.of("c"), "c", List.of("a")));

        assertThatThrownBy(() -> one.acquire(TreeRequest.shared("a")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"a\" -> \"b\" -> \"c\" -> \"a\"");

        assertThat(store.asked()).isEmpty();
    }

    @Test
    void givenIdTheParentsFunctionDoesNotKnow_whenLocked_thenItsExceptionComesOutAndNothingIsAsked() {
        TreeEditor one = locks.createEditor(id -> {
            throw new IllegalStateException("no such id: " + id);
        });

        assertThatThrownBy(() -> one.acquire(TreeRequest.shared("nowhere"))).hasMessage("no such id: nowhere");

        assertThat(store.asked()).isEmpty();
    }

    @Test
    void givenDeepTree_whenLocked_thenOneCall() {
        Map<String, List<String>> chain = new HashMap<>(Map.of("0", List.of()));
        IntStream.range(1, 20_000).forEach(i -> chain.put(Integer.toString(i), List.of(Integer.toString(i - 1))));
        TreeEditor one = tree(chain);

        one.acquire(TreeRequest.exclusive("19999"));

        assertThat(store.asked()).containsExactly("19999 shared 1 exclusive");
    }

    @Test
    void givenNoAnswer_whenLocked_thenWhatItMayHaveGrantedIsGivenBack() {
        TreeEditor one = tree(TreeLocksContract.PARENTS);
        store.losesTheNextAnswer = true;

        assertThatThrownBy(() -> one.acquire(TreeRequest.exclusive("model"))).isInstanceOf(LockStorageException.class);

        assertThat(one.held()).isEmpty();
        editor.acquire(TreeRequest.exclusive("root"));
    }

    @Test
    void givenNoAnswer_whenPromoted_thenStillSharedAndAskingAgainSettlesIt() {
        editor.acquire(TreeRequest.shared("model"));
        store.losesTheNextAnswer = true;

        assertThatThrownBy(() -> editor.acquire(TreeRequest.exclusive("model")))
                .isInstanceOf(LockStorageException.class);

        assertThat(editor.held()).containsEntry("model", LockMode.SHARED);
        editor.acquire(TreeRequest.exclusive("model"));
        assertThat(editor.holdsExclusive("child1")).isTrue();
        editor.releaseAll();
        tree(TreeLocksContract.PARENTS).acquire(TreeRequest.exclusive("root"));
    }

    @Test
    void givenHeld_whenRefreshed_thenOneCallForAll() {
        editor.acquire(TreeRequest.exclusive("child1"));
        assertThat(store.asked()).hasSize(1);

        editor.refresh();

        assertThat(store.asked()).containsExactly("refreshed 5");
    }

    @Test
    void givenSavepoints_whenRolledBackAndReinstated_thenOneCallToDemoteOneToGiveUpAndOneToTake() {
        editor.acquire(TreeRequest.shared("model"));
        TreeSavepoint savepoint = editor.savepoint();
        editor.acquire(TreeRequest.exclusive("model", "dictionary"));
        assertThat(store.asked()).hasSize(2);

        editor.rollback(savepoint);
        assertThat(store.asked()).containsExactly("gave up 1", "1 shared 0 exclusive");

        editor.reinstate(savepoint);
        assertThat(store.asked()).containsExactly("0 shared 2 exclusive");
        assertThat(editor.holdsExclusive("child1")).isTrue();
    }

    @Test
    void givenNothingLockedSince_whenRolledBackAndReinstated_thenTheStoreIsNotAsked() {
        editor.acquire(TreeRequest.exclusive("model"));
        TreeSavepoint savepoint = editor.savepoint();
        editor.acquire(TreeRequest.exclusive("child1"));
        assertThat(store.asked()).hasSize(1);

        editor.rollback(savepoint);
        editor.reinstate(savepoint);

        assertThat(store.asked()).isEmpty();
        assertThat(editor.holdsExclusive("child1")).isTrue();
    }

    @Test
    void givenNoAnswer_whenRolledBack_thenBelievedSharedAndRefreshingSettlesIt() {
        editor.acquire(TreeRequest.shared("model"));
        TreeSavepoint savepoint = editor.savepoint();
        editor.acquire(TreeRequest.exclusive("model", "dictionary"));
        store.failsTheNextBatch = true;

        assertThatThrownBy(() -> editor.rollback(savepoint)).isInstanceOf(LockStorageException.class);

        assertThat(editor.held()).hasSize(3).values().containsOnly(LockMode.SHARED);
        editor.refresh();
        TreeEditor other = tree(TreeLocksContract.PARENTS);
        other.acquire(new TreeRequest(Set.of("dictionary"), Set.of("child1")));
        other.releaseAll();
        editor.reinstate(savepoint);
        assertThat(editor.holdsExclusive("dictionary") && editor.holdsExclusive("child1"))
                .isTrue();
    }

    @Test
    void givenNoAnswer_whenReinstated_thenGivenBackAndRolledBackStill() {
        TreeSavepoint savepoint = editor.savepoint();
        editor.acquire(TreeRequest.exclusive("model"));
        editor.rollback(savepoint);
        store.losesTheNextAnswer = true;

        assertThatThrownBy(() -> editor.reinstate(savepoint)).isInstanceOf(LockStorageException.class);

        assertThat(editor.held()).isEmpty();
        TreeEditor other = tree(TreeLocksContract.PARENTS);
        other.acquire(TreeRequest.exclusive("root"));
        other.releaseAll();
        editor.reinstate(savepoint);
        assertThat(editor.holdsExclusive("child1")).isTrue();
    }

    @Test
    void givenNewIds_whenUsed_thenTheyNeedNoLockUntilTheyArePushed() {
        Set<String> unpushed = new HashSet<>(Set.of("child1"));
        TreeEditor author = locks.createEditor(TreeLocksContract.PARENTS::get, unpushed::contains);
        author.acquire(TreeRequest.shared("parent"));
        assertThat(store.asked()).containsExactly("4 shared 0 exclusive");

        author.acquire(new TreeRequest(Set.of("child1"), Set.of("child1")));

        assertThat(store.asked()).isEmpty();
        author.checkExclusive("child1");
        author.checkShared("child1");
        assertThat(author.held()).doesNotContainKey("child1");
        unpushed.clear();
        author.pushedRetaining(1);
        assertThat(author.holdsExclusive("child1")).isFalse();
        assertThatThrownBy(() -> author.checkExclusive("child1")).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void givenNewIdsWithSomethingBelow_whenThatIsLocked_thenOnlyWhatIsAboveTheNewOnesIsAsked() {
        TreeEditor author = locks.createEditor(diamond()::get, id -> id.equals("left") || id.equals("leaf"));
        TreeEditor other = locks.createEditor(diamond()::get, "left"::equals);

        author.acquire(TreeRequest.exclusive("leaf"));
        assertThat(store.asked()).isEmpty();
        other.acquire(TreeRequest.exclusive("leaf"));

        assertThat(store.asked()).containsExactly("2 shared 1 exclusive");
        assertThat(other.held()).containsOnlyKeys("top", "right", "leaf");
    }

    @Test
    void givenWaiting_whenClosed_thenTheWaitEnds() throws Exception {
        TreeEditor other = tree(TreeLocksContract.PARENTS);
        other.acquire(TreeRequest.exclusive("root"));
        BackgroundCall<Boolean> waiting = BackgroundCall.start(() -> {
            editor.acquire(TreeRequest.shared("model"), Duration.ofMinutes(5));
            return true;
        });
        waiting.awaitWaiting();

        editor.close();

        assertThatThrownBy(waiting::result).isInstanceOf(TreeConflictException.class);
    }

    /** The parents are asked for before each attempt. */
    @Test
    void givenWaiting_whenClosedAtTheNextAttempt_thenTheWaitEnds() {
        tree(TreeLocksContract.PARENTS).acquire(TreeRequest.exclusive("root"));
        AtomicInteger attempts = new AtomicInteger();
        List<TreeEditor> closing = new ArrayList<>();
        closing.add(locks.createEditor(id -> {
            if (id.equals("model") && attempts.incrementAndGet() == 2) {
                closing.get(0).close();
            }
            return TreeLocksContract.PARENTS.get(id);
        }));

        assertThatThrownBy(() -> closing.get(0).acquire(TreeRequest.shared("model"), Duration.ofMinutes(5)))
                .isInstanceOf(TreeConflictException.class);
    }

    @Test
    void givenWaiting_whenInterrupted_thenNothingIsHeld() throws Exception {
        TreeEditor other = tree(TreeLocksContract.PARENTS);
        other.acquire(TreeRequest.exclusive("root"));
        BackgroundCall<Boolean> waiting = BackgroundCall.start(() -> {
            editor.acquire(TreeRequest.shared("model"), Duration.ofMinutes(5));
            return true;
        });
        waiting.awaitWaiting();

        waiting.interrupt();

        assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);
        assertThat(editor.held()).isEmpty();
    }

    /** F2: what is above an id was not looked at anew, so that another editor had the right to it as well. */
    @Test
    void givenMovedWhileUndone_whenReinstated_thenWhatIsAboveItNowIsNeeded() {
        Map<String, List<String>> parents =
                new HashMap<>(Map.of("plant", List.of(), "hall", List.of("plant"), "yard", List.of("plant")));
        parents.put("pump", List.of("hall"));
        TreeEditor mover = tree(parents);
        TreeEditor undoer = tree(parents);
        TreeSavepoint savepoint = undoer.savepoint();
        undoer.acquire(TreeRequest.exclusive("pump"));
        undoer.rollback(savepoint);
        mover.acquire(new TreeRequest(Set.of("pump"), Set.of("yard")));
        parents.put("pump", List.of("yard"));
        mover.pushed(1);
        undoer.pulled(1);
        mover.acquire(TreeRequest.exclusive("yard"));

        assertThatThrownBy(() -> undoer.reinstate(savepoint)).isInstanceOf(TreeConflictException.class);

        assertThat(mover.holdsExclusive("pump")).isTrue();
        mover.releaseAll();
        undoer.reinstate(savepoint);
        assertThat(undoer.held()).containsOnlyKeys("plant", "hall", "yard", "pump");
        undoer.rollback(savepoint);
        assertThat(undoer.held()).isEmpty();
    }

    /** F3: its own push made it believe to know a change that it had not pulled. */
    @Test
    void givenAnotherPushedBefore_whenPushed_thenWhatWasNotPulledIsNotKnown() {
        TreeEditor author = tree(TreeLocksContract.PARENTS);
        author.acquire(TreeRequest.exclusive("child2"));
        editor.acquire(TreeRequest.exclusive("child1"));
        author.pushed(1);

        editor.pushed(2);

        assertThatThrownBy(() -> editor.acquire(TreeRequest.exclusive("child2")))
                .isInstanceOf(PullRequiredException.class);
        editor.pulled(2);
        editor.acquire(TreeRequest.exclusive("child2"));
        editor.pushed(3);
        editor.acquire(TreeRequest.exclusive("child2"));
    }

    /** F8: a function that takes long kept what is held from being renewed. */
    @Test
    void givenTheParentsFunctionHangs_whenRefreshed_thenItIsRefreshed() throws Exception {
        Pause pause = new Pause();
        TreeEditor one = locks.createEditor(id -> {
            if (id.equals("child2")) {
                pause.pass();
            }
            return TreeLocksContract.PARENTS.getOrDefault(id, List.of());
        });
        one.acquire(TreeRequest.exclusive("child1"));
        BackgroundCall<Boolean> acquire = BackgroundCall.start(() -> {
            one.acquire(TreeRequest.exclusive("child2"));
            return true;
        });
        pause.awaitReached();

        BackgroundCall<Boolean> refresh = BackgroundCall.start(() -> {
            one.refresh();
            return acquire.isDone();
        });

        assertThat(refresh.result()).isFalse();
        pause.end();
        assertThat(acquire.result()).isTrue();
        assertThat(one.holdsExclusive("child1") && one.holdsExclusive("child2")).isTrue();
    }

    /** F10: it threw, since what was held was given up between the look and the call. */
    @Test
    void givenReleasedAgainAndAgain_whenRefreshed_thenItDoesNothing() throws Exception {
        AtomicBoolean ends = new AtomicBoolean();
        BackgroundCall<Integer> refreshes = BackgroundCall.start(() -> {
            int done = 0;
            while (!ends.get()) {
                editor.refresh();
                done++;
            }
            return done;
        });

        for (int i = 0; i < 5_000; i++) {
            editor.acquire(TreeRequest.shared("root"));
            editor.releaseAll();
        }
        ends.set(true);

        assertThat(refreshes.result()).isPositive();
    }

    /** C17: it was a bare NullPointerException. */
    @Test
    void givenIdTheParentsFunctionAnswersNullFor_whenUsed_thenAClearErrorAndNothingIsAsked() {
        assertThatThrownBy(() -> editor.acquire(TreeRequest.exclusive("nowhere")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("unknown id \"nowhere\"");
        assertThatThrownBy(() -> editor.checkShared("nowhere")).isInstanceOf(IllegalArgumentException.class);

        assertThat(store.asked()).isEmpty();
    }

    @Test
    void givenPushedIndex_whenItIsNotGreaterThanWhatIsKnown_thenRefused() {
        editor.pulled(5);

        assertThatThrownBy(() -> editor.pushed(4)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> editor.pulled(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> tree(TreeLocksContract.PARENTS).pushed(0))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void givenStoreThatCannot_whenATreeIsBegun_thenAClearError() {
        assertThatThrownBy(() -> TreeLocks.of(new Minimal(), "tree"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("shared locks");
        assertThatThrownBy(() -> TreeLocks.of(new NullStore(), "tree").create())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("withoutStateRule()");
        assertThatThrownBy(() -> TreeLocks.of(store, "a/b"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"a/b\"");
    }

    @Test
    void givenNoLocks_whenUsedLikeAnyOther_thenNothingIsHeldAndEveryCheckPasses() throws InterruptedException {
        try (TreeEditor none = TreeEditor.none()) {
            none.pulled(1);
            none.acquire(TreeRequest.exclusive("a"));
            none.acquire(TreeRequest.exclusive("a"), Duration.ZERO);
            none.checkExclusive("a");
            none.checkShared("a");
            none.refresh();
            none.onLost(reason -> {});
            TreeSavepoint savepoint = none.savepoint();
            none.rollback(savepoint);
            none.reinstate(savepoint);
            none.pushedRetaining(2);
            none.pushed(3);
            none.releaseAll();

            assertThat(none.holdsExclusive("a") || none.holdsShared("a")).isFalse();
            assertThat(none.held()).isEmpty();
        }
    }

    private TreeEditor tree(Map<String, List<String>> parents) {
        return locks.createEditor(parents::get);
    }

    private static Map<String, List<String>> diamond() {
        return Map.of(
                "top", List.of(), "left", List.of("top"), "right", List.of("top"), "leaf", List.of("left", "right"));
    }

    /** Records batches, and loses answers. */
    private static final class Recorder implements SharedStore, BatchStore, ExpiringStore {

        private final InMemoryStore store = new InMemoryStore();
        private final List<String> asked = new ArrayList<>();
        private boolean losesTheNextAnswer;
        private boolean failsTheNextBatch;

        /** What was asked since the last time. */
        List<String> asked() {
            List<String> since = List.copyOf(asked);
            asked.clear();
            return since;
        }

        @Override
        public BatchAttempt saveAll(List<Request> requests) {
            Map<LockMode, Long> modes =
                    requests.stream().collect(Collectors.groupingBy(Request::mode, Collectors.counting()));
            asked.add(modes.getOrDefault(LockMode.SHARED, 0L) + " shared " + modes.getOrDefault(LockMode.EXCLUSIVE, 0L)
                    + " exclusive");
            if (failsTheNextBatch) {
                failsTheNextBatch = false;
                throw new LockStorageException("tree", "not reached", null);
            }
            BatchAttempt attempt = store.saveAll(requests);
            if (losesTheNextAnswer) {
                losesTheNextAnswer = false;
                throw new LockStorageException("tree", "the answer was lost", null);
            }
            return attempt;
        }

        @Override
        public Response refresh(Request request) {
            throw new AssertionError("refreshed one resource alone");
        }

        @Override
        public List<RefreshResult> refreshAll(List<Request> requests) {
            asked.add("refreshed " + requests.size());
            return store.refreshAll(requests);
        }

        @Override
        public int deleteAll(List<Key> keys) {
            asked.add("gave up " + keys.size());
            return store.deleteAll(keys);
        }

        @Override
        public Response save(Request request) {
            throw new AssertionError("asked for one resource alone");
        }

        @Override
        public boolean delete(Key key) {
            throw new AssertionError("gave up one resource alone");
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return store.find(key);
        }

        @Override
        public <T> Optional<T> capability(Class<T> type) {
            boolean isOwn = type.isInstance(this) || type == IndexedBatchStore.class;
            return isOwn && type != IndexStore.class
                    ? Optional.of(this).filter(type::isInstance).map(type::cast)
                    : store.capability(type);
        }
    }

    /** Cannot share. */
    private static final class Minimal implements PersistingStore {

        @Override
        public Response save(Request request) {
            return Response.Conflicted.NO_HINT;
        }

        @Override
        public boolean delete(Key key) {
            return false;
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return Optional.empty();
        }
    }
}
