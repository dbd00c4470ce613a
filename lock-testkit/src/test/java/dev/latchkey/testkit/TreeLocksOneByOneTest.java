package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.Attempt;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.tree.TreeConflictException;
import dev.latchkey.tree.TreeLocks;
import dev.latchkey.tree.TreeRequest;
import java.util.Map;
import java.util.Optional;
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
        TreeLocks other = fixture.closing(tree(fixture).create());
        other.acquire(TreeRequest.exclusive("child1", "child2"));
        TreeLocks editor = fixture.closing(TreeLocks.of(new Blind(store), fixture.resource(), PARENTS::get)
                .withoutStateRule()
                .create());

        assertThatThrownBy(() -> editor.acquire(TreeRequest.exclusive("child2", "child1")))
                .isInstanceOfSatisfying(
                        TreeConflictException.class,
                        conflict -> assertThat(conflict.blocked()).isEqualTo(Map.of("child1", LockMode.EXCLUSIVE)));

        assertThat(editor.held()).isEmpty();
        other.releaseAll();
        other.acquire(TreeRequest.exclusive("root"));
    }

    /** Shows nothing but that it can share. */
    private record Blind(PersistingStore store) implements SharedStore {

        @Override
        public Attempt save(Request request) {
            return store.save(request);
        }

        @Override
        public boolean delete(Key key) {
            return store.delete(key);
        }

        @Override
        public Optional<Attempt.Granted> find(Key key) {
            return store.find(key);
        }
    }
}
