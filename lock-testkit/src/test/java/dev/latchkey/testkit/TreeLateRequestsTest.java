package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.BatchStore;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.store.InMemoryStore;
import dev.latchkey.tree.TreeConflictException;
import dev.latchkey.tree.TreeEditor;
import dev.latchkey.tree.TreeLocks;
import dev.latchkey.tree.TreeRequest;
import dev.latchkey.tree.TreeSavepoint;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** F1: what an editor asked for, and what arrives at the store after the editor has asked for more. */
class TreeLateRequestsTest {

    /** How the store is asked. */
    private enum Asking {
        TOGETHER,
        ONE_BY_ONE,
        WITHOUT_LEASES
    }

    private final InMemoryStore memory = new InMemoryStore();

    @ParameterizedTest
    @EnumSource(names = {"TOGETHER", "ONE_BY_ONE"})
    void givenPromoted_whenARefreshOfTheSharedHoldComesLate_thenNobodyElseGetsIn(Asking asking) {
        Late store = new Late(memory, asking);
        TreeEditor editor = tree(store);
        editor.acquire(TreeRequest.shared("model"));
        store.isLate = true;
        assertThatThrownBy(editor::refresh).isInstanceOf(LockStorageException.class);
        store.isLate = false;
        editor.acquire(TreeRequest.exclusive("model"));

        store.arrive();

        assertNobodyElseGetsIn(editor);
    }

    @ParameterizedTest
    @EnumSource(names = {"TOGETHER", "ONE_BY_ONE"})
    void givenPromotedAgain_whenTheDemotionOfARollbackComesLate_thenNobodyElseGetsIn(Asking asking) {
        Late store = new Late(memory, asking);
        TreeEditor editor = tree(store);
        editor.acquire(TreeRequest.shared("model"));
        TreeSavepoint savepoint = editor.savepoint();
        editor.acquire(TreeRequest.exclusive("model"));
        store.isLate = true;
        assertThatThrownBy(() -> editor.rollback(savepoint)).isInstanceOf(LockStorageException.class);
        store.isLate = false;
        editor.acquire(TreeRequest.exclusive("model"));

        store.arrive();

        assertNobodyElseGetsIn(editor);
    }

    @ParameterizedTest
    @EnumSource(names = {"TOGETHER", "ONE_BY_ONE"})
    void givenADemotionWasNotAnswered_whenItIsNotAnsweredStill_thenNothingIsPromoted(Asking asking) {
        Late store = new Late(memory, asking);
        TreeEditor editor = tree(store);
        editor.acquire(TreeRequest.shared("model"));
        TreeSavepoint savepoint = editor.savepoint();
        editor.acquire(TreeRequest.exclusive("model"));
        store.isLate = true;
        assertThatThrownBy(() -> editor.rollback(savepoint)).isInstanceOf(LockStorageException.class);

        assertThatThrownBy(() -> editor.acquire(TreeRequest.exclusive("model")))
                .isInstanceOf(LockStorageException.class);

        assertThat(editor.held()).containsEntry("model", LockMode.SHARED);
    }

    @ParameterizedTest
    @EnumSource(names = "ONE_BY_ONE")
    void givenARequestWasUndone_whenItsDemotionComesLate_thenNobodyElseGetsIn(Asking asking) {
        Late store = new Late(memory, asking);
        TreeEditor editor = tree(store);
        editor.acquire(TreeRequest.shared("child1", "child2"));
        TreeEditor other = tree(memory);
        other.acquire(TreeRequest.shared("child2"));
        store.isLate = true;
        assertThatThrownBy(() -> editor.acquire(TreeRequest.exclusive("child1", "child2")))
                .isInstanceOf(LockStorageException.class);
        store.isLate = false;
        editor.acquire(TreeRequest.exclusive("child1"));

        store.arrive();

        assertThatThrownBy(() -> other.acquire(TreeRequest.shared("child1"))).isInstanceOf(TreeConflictException.class);
    }

    /** What is believed to be shared must not keep others from sharing for ever. */
    @ParameterizedTest
    @EnumSource(names = {"TOGETHER", "ONE_BY_ONE"})
    void givenAPromotionWasNotAnswered_whenRefreshed_thenOthersCanShare(Asking asking) {
        Late store = new Late(memory, asking);
        TreeEditor editor = tree(store);
        editor.acquire(TreeRequest.shared("model"));
        store.losesTheNextAnswer = true;
        assertThatThrownBy(() -> editor.acquire(TreeRequest.exclusive("model")))
                .isInstanceOf(LockStorageException.class);
        TreeEditor other = tree(memory);
        assertThatThrownBy(() -> other.acquire(TreeRequest.shared("model"))).isInstanceOf(TreeConflictException.class);

        editor.refresh();

        other.acquire(TreeRequest.shared("model"));
        assertThat(editor.holdsShared("model")).isTrue();
    }

    /** Where holds do not expire, to refresh is to look. */
    @Test
    void givenAPromotionWasNotAnsweredWithoutLeases_whenRefreshed_thenOthersCanShare() {
        Late store = new Late(memory, Asking.WITHOUT_LEASES);
        TreeEditor editor = tree(store);
        editor.acquire(TreeRequest.shared("model"));
        store.losesTheNextAnswer = true;
        assertThatThrownBy(() -> editor.acquire(TreeRequest.exclusive("model")))
                .isInstanceOf(LockStorageException.class);

        editor.refresh();

        tree(memory).acquire(TreeRequest.shared("model"));
    }

    private void assertNobodyElseGetsIn(TreeEditor editor) {
        assertThat(editor.holdsExclusive("model")).isTrue();
        assertThatThrownBy(() -> tree(memory).acquire(TreeRequest.shared("model")))
                .isInstanceOf(TreeConflictException.class);
    }

    private static TreeEditor tree(PersistingStore store) {
        return TreeLocks.of(store, "tree").withoutStateRule().create().createEditor(TreeLocksContract.PARENTS::get);
    }

    /** Keeps renewals and demotions on their way while it is late, and can lose the answer to what it does. */
    private static final class Late implements SharedStore, ExpiringStore, BatchStore {

        private final InMemoryStore store;
        private final Asking asking;
        private final List<Runnable> underWay = new ArrayList<>();
        private boolean isLate;
        private boolean losesTheNextAnswer;

        Late(InMemoryStore store, Asking asking) {
            this.store = store;
            this.asking = asking;
        }

        void arrive() {
            List<Runnable> all = List.copyOf(underWay);
            underWay.clear();
            all.forEach(Runnable::run);
        }

        private <T> T unlessLate(List<Request> requests, Supplier<T> call) {
            boolean promotesNothing = requests.stream()
                    .allMatch(request -> request.mode() == LockMode.SHARED
                            && request.key().held().isPresent());
            if (isLate && promotesNothing) {
                underWay.add(() -> {
                    T unused = call.get();
                });
                throw new LockStorageException("tree", "no answer", null);
            }
            T answer = call.get();
            if (losesTheNextAnswer) {
                losesTheNextAnswer = false;
                throw new LockStorageException("tree", "the answer was lost", null);
            }
            return answer;
        }

        @Override
        public Response save(Request request) {
            return unlessLate(List.of(request), () -> store.save(request));
        }

        @Override
        public Response refresh(Request request) {
            return unlessLate(List.of(request), () -> store.refresh(request));
        }

        @Override
        public BatchAttempt saveAll(List<Request> requests) {
            return unlessLate(requests, () -> store.saveAll(requests));
        }

        @Override
        public boolean delete(Key key) {
            return store.delete(key);
        }

        @Override
        public int deleteAll(List<Key> keys) {
            return store.deleteAll(keys);
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return store.find(key);
        }

        @Override
        public <T> Optional<T> capability(Class<T> type) {
            boolean isHidden = (type == BatchStore.class && asking != Asking.TOGETHER)
                    || (type == ExpiringStore.class && asking == Asking.WITHOUT_LEASES);
            return isHidden ? Optional.empty() : SharedStore.super.capability(type);
        }
    }
}
