package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.LockMode;
import dev.latchkey.spi.BatchStore;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.tree.PullRequiredException;
import dev.latchkey.tree.TreeConflictException;
import dev.latchkey.tree.TreeEditor;
import dev.latchkey.tree.TreeRequest;
import dev.latchkey.tree.TreeSavepoint;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What was locked for changes that are undone is given up, and taken again when they are done again. */
@ContractFor({SharedStore.class, BatchStore.class})
public interface TreeSavepointContract extends TreeLocksContract {

    private TreeEditor editor(Fixture fixture) {
        return TreeEditors.create(fixture, tree(fixture));
    }

    @Test
    default void givenLockedSinceASavepoint_whenRolledBack_thenThatIsFreeAndWhatWasEarlierIsHeld(Fixture fixture) {
        TreeEditor editor = editor(fixture);
        editor.acquire(TreeRequest.exclusive("dictionary"));
        TreeSavepoint savepoint = editor.savepoint();
        editor.acquire(TreeRequest.exclusive("child1"));

        editor.rollback(savepoint);

        assertThat(editor.held()).isEqualTo(Map.of("dictionary", LockMode.EXCLUSIVE, "root", LockMode.SHARED));
        assertThat(editor.holdsShared("child1")).isFalse();
        TreeEditor other = editor(fixture);
        other.acquire(TreeRequest.exclusive("subject"));
        assertThatThrownBy(() -> other.acquire(TreeRequest.shared("dictionary")))
                .isInstanceOf(TreeConflictException.class);
    }

    @Test
    default void givenPromotedSinceASavepoint_whenRolledBack_thenSharedAgain(Fixture fixture) {
        TreeEditor editor = editor(fixture);
        editor.acquire(TreeRequest.shared("model"));
        TreeSavepoint savepoint = editor.savepoint();
        editor.acquire(TreeRequest.exclusive("model"));
        editor.acquire(TreeRequest.exclusive("child1"));

        editor.rollback(savepoint);

        assertThat(editor.held()).hasSize(3).values().containsOnly(LockMode.SHARED);
        assertThat(editor.holdsExclusive("child1")).isFalse();
        TreeEditor other = editor(fixture);
        other.acquire(TreeRequest.exclusive("child1"));
        assertThatThrownBy(() -> other.acquire(TreeRequest.exclusive("model")))
                .isInstanceOf(TreeConflictException.class);
        editor.refresh();
        assertThat(editor.holdsShared("model")).isTrue();
    }

    @Test
    default void givenSeveralSavepoints_whenRolledBackToAnEarlierOne_thenLaterOnesAreAsWell(Fixture fixture) {
        TreeEditor editor = editor(fixture);
        TreeSavepoint first = editor.savepoint();
        editor.acquire(TreeRequest.exclusive("dictionary"));
        TreeSavepoint second = editor.savepoint();
        editor.acquire(TreeRequest.exclusive("child1"));

        editor.rollback(first);
        editor.rollback(first);
        editor.rollback(second);

        assertThat(editor.held()).isEmpty();
        TreeEditor other = editor(fixture);
        other.acquire(TreeRequest.exclusive("root"));
        other.releaseAll();
        editor.acquire(TreeRequest.exclusive("root"));
        assertThat(editor.holdsExclusive("child1")).isTrue();
    }

    @Test
    default void givenRolledBack_whenReinstated_thenHeldAgainWithEarlierOnes(Fixture fixture) {
        TreeEditor editor = editor(fixture);
        editor.acquire(TreeRequest.shared("parent"));
        TreeSavepoint first = editor.savepoint();
        editor.acquire(TreeRequest.exclusive("parent"));
        TreeSavepoint second = editor.savepoint();
        editor.acquire(TreeRequest.exclusive("dictionary"));
        TreeSavepoint third = editor.savepoint();
        editor.acquire(TreeRequest.exclusive("subject"));
        editor.rollback(first);

        editor.reinstate(second);
        editor.reinstate(first);

        assertThat(editor.held())
                .isEqualTo(Map.of(
                        "root", LockMode.SHARED,
                        "subject", LockMode.SHARED,
                        "model", LockMode.SHARED,
                        "parent", LockMode.EXCLUSIVE,
                        "dictionary", LockMode.EXCLUSIVE));
        assertThatThrownBy(() -> editor(fixture).acquire(TreeRequest.shared("dictionary")))
                .isInstanceOf(TreeConflictException.class);

        editor.reinstate(third);
        assertThat(editor.held()).containsEntry("subject", LockMode.EXCLUSIVE);
        editor.rollback(second);
        assertThat(editor.held()).hasSize(4).containsEntry("parent", LockMode.EXCLUSIVE);
    }

    @Test
    default void givenAnotherTookSomeOfIt_whenReinstated_thenConflictAndNothingTakenAndLaterGranted(Fixture fixture) {
        TreeEditor editor = editor(fixture);
        TreeSavepoint savepoint = editor.savepoint();
        editor.acquire(TreeRequest.exclusive("dictionary", "child1"));
        editor.rollback(savepoint);
        TreeEditor other = editor(fixture);
        other.acquire(TreeRequest.exclusive("child1"));

        assertThatThrownBy(() -> editor.reinstate(savepoint))
                .isInstanceOfSatisfying(
                        TreeConflictException.class,
                        conflict -> assertThat(conflict.blocked()).isEqualTo(Map.of("child1", LockMode.EXCLUSIVE)));

        assertThat(editor.held()).isEmpty();
        other.acquire(TreeRequest.exclusive("dictionary"));
        other.releaseAll();
        editor.reinstate(savepoint);
        assertThat(editor.holdsExclusive("dictionary") && editor.holdsExclusive("child1"))
                .isTrue();
    }

    @Test
    default void givenAnotherChangedSomeOfIt_whenReinstated_thenPullRequired(Fixture fixture) {
        TreeEditor editor = editor(fixture);
        TreeSavepoint savepoint = editor.savepoint();
        editor.acquire(TreeRequest.exclusive("child1"));
        editor.rollback(savepoint);
        TreeEditor other = editor(fixture);
        other.acquire(TreeRequest.exclusive("child1"));
        other.pushed(1);

        assertThatThrownBy(() -> editor.reinstate(savepoint)).isInstanceOf(PullRequiredException.class);

        editor.pulled(1);
        editor.reinstate(savepoint);
        assertThat(editor.holdsExclusive("child1")).isTrue();
    }

    @Test
    default void givenRolledBack_whenAnotherAcquires_thenNoPullIsRequired(Fixture fixture) {
        TreeEditor author = editor(fixture);
        author.pulled(9);
        TreeSavepoint savepoint = author.savepoint();
        author.acquire(TreeRequest.exclusive("child1"));
        author.rollback(savepoint);
        author.acquire(TreeRequest.exclusive("dictionary"));
        author.pushed(10);

        TreeEditor editor = editor(fixture);
        editor.acquire(TreeRequest.exclusive("child1"));

        assertThat(editor.holdsExclusive("child1")).isTrue();
    }

    @Test
    default void givenASavepointIsOver_whenRolledBackOrReinstated_thenAClearErrorAndAllIsAsItWas(Fixture fixture) {
        TreeEditor editor = editor(fixture);
        TreeSavepoint redone = editor.savepoint();
        editor.acquire(TreeRequest.exclusive("dictionary"));
        editor.rollback(redone);
        TreeSavepoint pushed = editor.savepoint();
        editor.acquire(TreeRequest.exclusive("child1"));
        Map<String, LockMode> held = editor.held();

        assertThatThrownBy(() -> editor.reinstate(redone))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("savepoint 1 of tree \"" + fixture.resource() + "\"")
                .hasMessageContaining("another one was set");
        assertThatThrownBy(() -> editor(fixture).rollback(pushed)).isInstanceOf(IllegalArgumentException.class);
        editor.pushedRetaining(1);
        assertThatThrownBy(() -> editor.rollback(pushed))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("pushed");
        assertThat(editor.held()).isEqualTo(held);
        TreeSavepoint released = editor.savepoint();
        editor.releaseAll();
        assertThatThrownBy(() -> editor.rollback(released)).isInstanceOf(IllegalArgumentException.class);
    }
}
