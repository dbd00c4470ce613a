package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.tree.TreeConflictException;
import dev.latchkey.tree.TreeEditor;
import dev.latchkey.tree.TreeLocks;
import dev.latchkey.tree.TreeRequest;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Locks on trees over a store that takes one resource at a time. */
class TreeLocksOneByOneTest implements TreeLeaseContract, TreeSavepointContract {

    private final PersistingStore store = new OneByOneStore();

    @Override
    public PersistingStore store() {
        return store;
    }

    @Override
    public PersistingStore separateStore() {
        return new OneByOneStore();
    }

    @Test
    void givenAStoreThatCannotTellWhoHolds_whenSeveralAreInTheWay_thenTheFirstIsNamedAndNothingTaken(Fixture fixture) {
        TreeEditor other = TreeEditors.create(fixture, tree(fixture));
        other.acquire(TreeRequest.exclusive("child1", "child2"));
        TreeEditor editor = TreeEditors.create(
                fixture, TreeLocks.of(new Blind(store), fixture.resource()).withoutStateRule());

        assertThatThrownBy(() -> editor.acquire(TreeRequest.exclusive("child2", "child1")))
                .isInstanceOfSatisfying(
                        TreeConflictException.class,
                        conflict -> assertThat(conflict.blocked()).isEqualTo(Map.of("child1", LockMode.EXCLUSIVE)));

        assertThat(editor.held()).isEmpty();
        other.releaseAll();
        other.acquire(TreeRequest.exclusive("root"));
    }

    /** What was promoted before a conflict stayed exclusive: nobody could share what the editor only shared. */
    @Test
    void givenAStoreWithoutTokens_whenARequestIsRefusedHalfway_thenWhatWasPromotedIsSharedAgain(Fixture fixture) {
        TreeEditor other = TreeEditors.create(fixture, tree(fixture));
        other.acquire(TreeRequest.shared("child2"));
        TreeEditor editor = TreeEditors.create(
                fixture, TreeLocks.of(new Unfenced(store), fixture.resource()).withoutStateRule());
        editor.acquire(TreeRequest.shared("child1", "child2"));

        assertThatThrownBy(() -> editor.acquire(TreeRequest.exclusive("child1", "child2")))
                .isInstanceOf(TreeConflictException.class);

        other.acquire(TreeRequest.shared("child1"));
    }

    /** Mints no tokens, nor looks at those that are claimed. */
    private record Unfenced(PersistingStore store) implements SharedStore {

        @Override
        public Response save(Request request) {
            Optional<Key.Held> held = request.key()
                    .held()
                    .flatMap(claimed -> store.find(request.key())
                            .map(found -> found.mode() == claimed.mode()
                                    ? new Key.Held(found.mode(), found.fencingToken())
                                    : claimed));
            Response response = store.save(request.with(request.key().claiming(held)));
            return response instanceof Response.Granted granted ? withoutToken(granted) : response;
        }

        private static Response.Granted withoutToken(Response.Granted granted) {
            return new Response.Granted(granted.mode(), OptionalLong.empty(), granted.lease());
        }

        @Override
        public boolean delete(Key key) {
            return store.delete(key);
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return store.find(key).map(Unfenced::withoutToken);
        }
    }

    /** Shows nothing but that it can share. */
    private record Blind(PersistingStore store) implements SharedStore {

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
    }
}
