package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.throwable;

import dev.latchkey.LockMode;
import dev.latchkey.spi.BatchStore;
import dev.latchkey.spi.SharedStore;
import dev.latchkey.spi.StateRule;
import dev.latchkey.tree.PullRequiredException;
import dev.latchkey.tree.TreeConflictException;
import dev.latchkey.tree.TreeEditor;
import dev.latchkey.tree.TreeLocks;
import dev.latchkey.tree.TreeRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Editors lock parts of a tree, and nobody changes what he has not seen the last change of. */
@ContractFor({SharedStore.class, BatchStore.class})
public interface TreeLocksContract extends StoreContract {

    /** What the trees of these tests look like, by id: the parents. */
    Map<String, List<String>> PARENTS = Map.of(
            "root", List.of(),
            "dictionary", List.of("root"),
            "subject", List.of("root"),
            "model", List.of("subject"),
            "parent", List.of("model"),
            "child1", List.of("parent"),
            "child2", List.of("parent", "model"));

    /**
     * Begins locks on the tree of a test.
     *
     * @param fixture whose store and resource
     * @return a builder with a state index store, shared by all editors of the test
     */
    default TreeLocks.Builder tree(Fixture fixture) {
        return TreeLocks.of(fixture.store(), fixture.resource());
    }

    private TreeEditor editor(Fixture fixture) {
        return TreeEditors.create(fixture, tree(fixture));
    }

    @Test
    default void givenNothingHeld_whenShared_thenAllAncestorsAreShared(Fixture fixture) {
        TreeEditor editor = editor(fixture);

        editor.acquire(TreeRequest.shared("child1"));

        assertThat(editor.held())
                .containsOnlyKeys("root", "subject", "model", "parent", "child1")
                .values()
                .containsOnly(LockMode.SHARED);
        assertThat(editor.holdsShared("child1")).isTrue();
        assertThat(editor.holdsExclusive("child1")).isFalse();
        assertThat(editor.holdsShared("child2")).isFalse();
    }

    @Test
    default void givenShared_whenExclusive_thenOnlyThatIsPromoted(Fixture fixture) {
        TreeEditor editor = editor(fixture);
        editor.acquire(TreeRequest.shared("child1"));

        editor.acquire(TreeRequest.exclusive("child1"));

        assertThat(editor.held())
                .containsEntry("child1", LockMode.EXCLUSIVE)
                .containsEntry("parent", LockMode.SHARED)
                .hasSize(5);
    }

    @Test
    default void givenInBothLists_whenAcquired_thenExclusive(Fixture fixture) {
        TreeEditor editor = editor(fixture);

        editor.acquire(new TreeRequest(Set.of("parent"), Set.of("parent")));

        assertThat(editor.held()).containsEntry("parent", LockMode.EXCLUSIVE).hasSize(4);
    }

    @Test
    default void givenAncestorHeldExclusively_whenAsked_thenAllBelowIsCovered(Fixture fixture) {
        TreeEditor editor = editor(fixture);

        editor.acquire(TreeRequest.exclusive("model"));

        assertThat(editor.holdsExclusive("child1")).isTrue();
        assertThat(editor.holdsShared("child2")).isTrue();
        assertThat(editor.holdsExclusive("subject")).isFalse();
        editor.checkExclusive("child2");
        assertThatThrownBy(() -> editor.checkExclusive("subject"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("\"subject\"");
        assertThatThrownBy(() -> editor.checkShared("dictionary")).isInstanceOf(IllegalStateException.class);
        editor.checkShared("subject");
    }

    @Test
    default void givenOthersInTheWay_whenAcquired_thenAllAreNamedAndNothingIsTaken(Fixture fixture) {
        TreeEditor other = editor(fixture);
        other.acquire(new TreeRequest(Set.of("child1"), Set.of("child2")));
        TreeEditor editor = editor(fixture);

        assertThatThrownBy(() -> editor.acquire(TreeRequest.exclusive("dictionary", "child1", "child2")))
                .asInstanceOf(throwable(TreeConflictException.class))
                .satisfies(conflict -> assertThat(conflict.blocked())
                        .isEqualTo(Map.of("child1", LockMode.EXCLUSIVE, "child2", LockMode.EXCLUSIVE)));

        assertThat(editor.held()).isEmpty();
        editor.acquire(TreeRequest.exclusive("dictionary"));
        assertThat(editor.held()).isEqualTo(Map.of("dictionary", LockMode.EXCLUSIVE, "root", LockMode.SHARED));
    }

    @Test
    default void givenAncestorHeldExclusivelyByAnother_whenAcquired_thenTheAncestorIsNamed(Fixture fixture) {
        editor(fixture).acquire(TreeRequest.exclusive("model"));

        assertThatThrownBy(() -> editor(fixture).acquire(TreeRequest.shared("child1")))
                .asInstanceOf(throwable(TreeConflictException.class))
                .satisfies(conflict -> assertThat(conflict.blocked()).isEqualTo(Map.of("model", LockMode.SHARED)));
    }

    @Test
    default void givenOthersShare_whenPromoted_thenConflictAndStillShared(Fixture fixture) {
        TreeEditor editor = editor(fixture);
        editor.acquire(TreeRequest.shared("child1"));
        TreeEditor other = editor(fixture);
        other.acquire(TreeRequest.shared("child1"));

        assertThatThrownBy(() -> editor.acquire(TreeRequest.exclusive("child1")))
                .isInstanceOf(TreeConflictException.class);
        assertThat(editor.held()).containsEntry("child1", LockMode.SHARED);

        other.releaseAll();
        editor.acquire(TreeRequest.exclusive("child1"));
        assertThat(editor.holdsExclusive("child1")).isTrue();
    }

    @Test
    default void givenAnotherHoldsAnything_whenTheRootIsTaken_thenConflict(Fixture fixture) {
        TreeEditor other = editor(fixture);
        other.acquire(TreeRequest.shared("dictionary"));
        TreeEditor editor = editor(fixture);

        assertThatThrownBy(() -> editor.acquire(TreeRequest.exclusive("root")))
                .isInstanceOf(TreeConflictException.class);

        other.releaseAll();
        editor.acquire(TreeRequest.exclusive("root"));
        assertThat(editor.holdsExclusive("child1")).isTrue();
        assertThatThrownBy(() -> other.acquire(TreeRequest.shared("dictionary")))
                .isInstanceOf(TreeConflictException.class);
    }

    @Test
    default void givenAnotherChangedIt_whenAcquiredWithoutAPull_thenPullRequired(Fixture fixture) {
        TreeEditor author = editor(fixture);
        author.acquire(TreeRequest.exclusive("child1"));
        author.pushed(4);
        TreeEditor editor = editor(fixture);
        editor.pulled(3);

        assertThatThrownBy(() -> editor.acquire(TreeRequest.shared("child1")))
                .asInstanceOf(throwable(PullRequiredException.class))
                .satisfies(pull -> {
                    assertThat(pull.required()).isEqualTo(4);
                    assertThat(pull.known()).isEqualTo(3);
                    assertThat(pull.stale()).containsExactly("child1");
                });
        assertThat(editor.held()).isEmpty();

        editor.pulled(4);
        editor.acquire(TreeRequest.exclusive("child1"));
        assertThat(author.held()).isEmpty();
    }

    @Test
    default void givenAnotherChangedSomethingBelow_whenTheAncestorIsTaken_thenPullRequired(Fixture fixture) {
        TreeEditor author = editor(fixture);
        author.acquire(TreeRequest.exclusive("child1"));
        author.pushed(4);
        TreeEditor editor = editor(fixture);
        editor.pulled(3);

        assertThatThrownBy(() -> editor.acquire(TreeRequest.exclusive("model")))
                .isInstanceOf(PullRequiredException.class);
        editor.acquire(TreeRequest.exclusive("child2"));

        assertThat(editor.holdsExclusive("child2")).isTrue();
    }

    @Test
    default void givenTheOlderRule_whenTheAncestorIsTakenAfterAChangeBelow_thenItIsGranted(Fixture fixture) {
        TreeEditor author = editor(fixture);
        author.acquire(TreeRequest.exclusive("child1"));
        author.pushed(4);
        TreeEditor editor = TreeEditors.create(fixture, tree(fixture).stateRule(StateRule.EXCLUSIVE_INDEX));

        assertThatThrownBy(() -> editor.acquire(TreeRequest.exclusive("child1")))
                .isInstanceOf(PullRequiredException.class);
        editor.acquire(TreeRequest.shared("child1"));
        editor.acquire(TreeRequest.exclusive("model"));
        assertThat(editor.holdsExclusive("child1")).isTrue();
    }

    @Test
    default void givenStalePromotion_whenRefused_thenStillShared(Fixture fixture) {
        TreeEditor author = editor(fixture);
        author.acquire(TreeRequest.exclusive("child1"));
        author.pushed(4);
        TreeEditor editor = editor(fixture);
        editor.acquire(TreeRequest.shared("parent"));

        assertThatThrownBy(() -> editor.acquire(TreeRequest.exclusive("dictionary", "parent")))
                .isInstanceOf(PullRequiredException.class);

        assertThat(editor.held()).containsEntry("parent", LockMode.SHARED).doesNotContainKey("dictionary");
        TreeEditor another = editor(fixture);
        another.acquire(TreeRequest.shared("parent"));
        another.acquire(TreeRequest.exclusive("dictionary"));
    }

    @Test
    default void givenAbandoned_whenAnotherAcquires_thenNoPullIsRequired(Fixture fixture) {
        TreeEditor author = editor(fixture);
        author.pulled(9);
        author.acquire(TreeRequest.exclusive("child1"));
        author.releaseAll();

        TreeEditor editor = editor(fixture);
        editor.acquire(TreeRequest.exclusive("child1"));

        assertThat(editor.holdsExclusive("child1")).isTrue();
        assertThat(author.holdsExclusive("child1")).isFalse();
    }

    @Test
    default void givenPushedRetaining_whenGivenUpLater_thenTheIndexIsThere(Fixture fixture) {
        TreeEditor author = editor(fixture);
        author.acquire(TreeRequest.exclusive("child1"));
        author.pushedRetaining(4);
        assertThat(author.holdsExclusive("child1")).isTrue();
        TreeEditor editor = editor(fixture);
        assertThatThrownBy(() -> editor.acquire(TreeRequest.exclusive("child1")))
                .isInstanceOf(TreeConflictException.class);

        author.releaseAll();

        assertThatThrownBy(() -> editor.acquire(TreeRequest.exclusive("child1")))
                .isInstanceOf(PullRequiredException.class);
    }

    @Test
    default void givenOthersInTheWay_whenAcquiredPatiently_thenGrantedOnceTheyAreGone(Fixture fixture)
            throws Exception {
        TreeEditor other = editor(fixture);
        other.acquire(TreeRequest.exclusive("parent"));
        TreeEditor editor = editor(fixture);
        BackgroundCall<Boolean> waiting = fixture.startWaiting(() -> {
            editor.acquire(TreeRequest.exclusive("child1"), TimeLimits.LIMIT);
            return editor.holdsExclusive("child1");
        });

        other.releaseAll();

        assertThat(waiting.result()).isTrue();
    }

    @Test
    default void givenClosed_whenAnotherAcquires_thenAllIsFree(Fixture fixture) {
        TreeEditor editor = editor(fixture);
        editor.acquire(TreeRequest.exclusive("root"));

        editor.close();
        editor.close();

        editor(fixture).acquire(TreeRequest.exclusive("root"));
        assertThatThrownBy(() -> editor.acquire(TreeRequest.shared("root"))).isInstanceOf(IllegalStateException.class);
    }

    @Test
    default void givenTwoTrees_whenBothRootsAreTaken_thenTheyDoNotMeet(Fixture fixture) {
        editor(fixture).acquire(TreeRequest.exclusive("root"));
        TreeEditor other = TreeEditors.create(fixture, tree(fixture));
        TreeEditor elsewhere = TreeEditors.create(
                fixture,
                TreeLocks.of(fixture.store(), fixture.resource() + "-2").withoutStateRule());

        elsewhere.acquire(TreeRequest.exclusive("root"));

        assertThatThrownBy(() -> other.acquire(TreeRequest.exclusive("root")))
                .isInstanceOf(TreeConflictException.class);
    }

    @Test
    @Tag("slow")
    default void givenManyEditorsAtOnce_whenTheyLockAtRandom_thenNeverTwoInConflictAndAllGetOn(Fixture fixture)
            throws Exception {
        TreeCrowd crowd = new TreeCrowd(PARENTS.keySet());
        List<BackgroundCall<Integer>> editors = new ArrayList<>();
        for (int seed = 0; seed < 4; seed++) {
            TreeEditor editor = editor(fixture);
            Random random = new Random(seed);
            editors.add(fixture.start(() -> crowd.edit(editor, random)));
        }

        for (BackgroundCall<Integer> running : editors) {
            assertThat(running.result()).isPositive();
        }

        TreeEditor last = editor(fixture);
        last.acquire(TreeRequest.exclusive("root"));
        assertThat(last.holdsExclusive("child2")).isTrue();
    }
}
