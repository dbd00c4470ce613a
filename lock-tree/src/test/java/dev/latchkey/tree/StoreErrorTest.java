package dev.latchkey.tree;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.BatchStore;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.store.InMemoryStore;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An Error of the store, or of its driver, leaves as much in doubt as an exception. */
class StoreErrorTest {

    private enum Asking {
        TOGETHER,
        ONE_BY_ONE
    }

    private final InMemoryStore memory = new InMemoryStore();

    @ParameterizedTest
    @EnumSource
    void givenTheStoreGrantsAndFailsWithAnError_whenTaken_thenItIsGivenBack(Asking asking) {
        Broken store = new Broken(memory, asking);
        TreeEditor editor = tree(store);
        store.isBroken = true;

        assertThatThrownBy(() -> editor.acquire(TreeRequest.exclusive("model"))).isInstanceOf(LinkageError.class);

        assertThat(editor.held()).isEmpty();
        TreeEditor other = tree(memory);
        other.acquire(TreeRequest.exclusive("model"));
        assertThat(other.holdsExclusive("model")).isTrue();
    }

    @ParameterizedTest
    @EnumSource(names = "TOGETHER")
    void givenAPromotionFailedWithAnError_whenRefreshed_thenItIsPutBackToShared(Asking asking) {
        Broken store = new Broken(memory, asking);
        TreeEditor editor = tree(store);
        editor.acquire(TreeRequest.shared("model"));
        store.isBroken = true;
        assertThatThrownBy(() -> editor.acquire(TreeRequest.exclusive("model"))).isInstanceOf(LinkageError.class);
        store.isBroken = false;

        editor.refresh();

        TreeEditor other = tree(memory);
        other.acquire(TreeRequest.shared("model"));
        assertThat(other.held()).containsEntry("model", LockMode.SHARED);
    }

    /** A refusal changes nothing, so the store still holds it exclusively. */
    @ParameterizedTest
    @EnumSource
    void givenAPromotionFailedWithAnError_whenTriedAgainRefusedAndRefreshed_thenItIsPutBackToShared(Asking asking) {
        Broken store = new Broken(memory, asking);
        TreeEditor editor = tree(store);
        editor.acquire(TreeRequest.shared("model"));
        store.isBroken = true;
        assertThatThrownBy(() -> editor.acquire(TreeRequest.exclusive("model"))).isInstanceOf(LinkageError.class);
        store.isBroken = false;
        TreeEditor other = tree(memory);
        other.acquire(TreeRequest.exclusive("dictionary"));

        assertThatThrownBy(() -> editor.acquire(TreeRequest.exclusive("model", "dictionary")))
                .isInstanceOf(TreeConflictException.class);
        editor.refresh();

        other.acquire(TreeRequest.shared("model"));
        assertThat(other.held()).containsEntry("model", LockMode.SHARED);
    }

    private static TreeEditor tree(PersistingStore store) {
        return TreeLocks.of(store, "tree").withoutStateRule().create().createEditor(id -> List.of());
    }

    /** Grants, and then fails with an Error while it is broken. */
    private static final class Broken implements PersistingStore {

        private final InMemoryStore store;
        private final Asking asking;
        private boolean isBroken;

        Broken(InMemoryStore store, Asking asking) {
            this.store = store;
            this.asking = asking;
        }

        @Override
        public Response save(Request request) {
            return answer(store.save(request));
        }

        private <T> T answer(T granted) {
            if (isBroken) {
                throw new NoClassDefFoundError("a class of the driver");
            }
            return granted;
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
            if (type == BatchStore.class && asking == Asking.TOGETHER) {
                return Optional.of(type.cast(new Together(this)));
            }
            return type == ExpiringStore.class || type == SharedStore.class ? store.capability(type) : Optional.empty();
        }
    }

    private record Together(Broken broken) implements BatchStore {

        @Override
        public BatchAttempt saveAll(List<Request> requests) {
            return broken.answer(broken.store.saveAll(requests));
        }

        @Override
        public int deleteAll(List<Key> keys) {
            return broken.store.deleteAll(keys);
        }

        @Override
        public Response save(Request request) {
            return broken.save(request);
        }

        @Override
        public boolean delete(Key key) {
            return broken.delete(key);
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return broken.find(key);
        }
    }
}
