package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.LockMode;
import dev.latchkey.spi.BatchStore;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.IndexStore;
import dev.latchkey.spi.InspectableStore;
import dev.latchkey.spi.StateIndex;
import dev.latchkey.tree.PullRequiredException;
import dev.latchkey.tree.TreeEditor;
import dev.latchkey.tree.TreeRequest;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Editors in other processes are killed in the middle of what they do: for a store of leases that several processes can
 * reach, keeps state indexes and can tell who holds something.
 */
@ContractFor(
        value = {ExpiringStore.class, BatchStore.class, IndexStore.class, InspectableStore.class},
        with = LeaseCrashContract.class)
public interface TreeCrashContract extends ProcessesContract, TreeLocksContract {

    /**
     * Returns the TTL of editors that are going to be killed: so long that a living one does not lose its locks on a busy
     * machine, and the remains of a dead one can be looked at.
     *
     * @return 20 s unless overridden
     */
    default Duration editorTtl() {
        return Duration.ofSeconds(20);
    }

    @Test
    @Tag("slow")
    default void givenEditorsAreKilledInTheMiddleOfARequest_whenLookedAt_thenAllOfItIsHeldOrNothingAndNotForLong(
            Fixture fixture, @TempDir Path directory) throws Exception {
        int size = 60;
        Set<String> left = new HashSet<>(Set.of("root"));
        List<SecondProcess> processes = SecondProcess.connect(dsn(), 3);
        try {
            for (int i = 0; i < processes.size(); i++) {
                String name = "editor" + i + "-";
                SecondProcess victim = processes.get(i);
                Reply work = victim.act("lockFamilies", fixture.resource(), editorTtl(), directory, name, size);
                int requests = 2 + i;
                awaitSaid(work, directory, name, TreeActor.ASKING, requests);

                victim.kill();

                List<List<String>> said = TreeActor.said(directory, name);
                String family = said.get(said.size() - 1).get(1);
                assertWholeOrNothing(fixture, family, size);
                left.add(family);
                left.addAll(TreeActor.children(family, size));
            }
        } finally {
            processes.forEach(SecondProcess::close);
        }
        assertFreeAgain(fixture, left);
    }

    private static void assertWholeOrNothing(Fixture fixture, String family, int size) {
        Set<String> children = TreeActor.children(family, size);
        List<String> first = held(fixture, children);
        // A request of the dead may have taken effect in the middle of the first look.
        List<String> held = first.isEmpty() || first.size() == size ? first : held(fixture, children);
        assertThat(held)
                .as("what is held of the last request of a dead editor, %s", family)
                .satisfiesAnyOf(
                        some -> assertThat(some).isEmpty(),
                        some -> assertThat(some).hasSize(size),
                        some -> assertThat(fixture.store().capability(BatchStore.class))
                                .as("a store of batches")
                                .isEmpty());
        if (!held.isEmpty()) {
            assertThat(holders(fixture, family)).extracting(Holder::mode).containsExactly(LockMode.SHARED);
        }
    }

    private static List<String> held(Fixture fixture, Set<String> ids) {
        return ids.stream().filter(id -> !holders(fixture, id).isEmpty()).toList();
    }

    private static List<Holder> holders(Fixture fixture, String id) {
        return fixture.store(InspectableStore.class).holders(fixture.resource() + "/" + id);
    }

    private void assertFreeAgain(Fixture fixture, Set<String> ids) {
        Awaitility.await("the leases of the dead to end")
                .atMost(editorTtl().plus(TimeLimits.LIMIT))
                .until(() -> ids.stream().allMatch(id -> holders(fixture, id).isEmpty()));
        TreeEditor last = TreeEditors.create(fixture, tree(fixture));
        last.pulled(StateIndex.MAX);
        last.acquire(TreeRequest.exclusive("root"));
        assertThat(last.holdsExclusive("child1")).isTrue();
        last.releaseAll();
    }

    @Test
    @Tag("slow")
    default void givenEditorsOfOneTree_whenSomeAreKilled_thenNeverTwoInConflictAndTheOthersGetOnAndKnowTheirChanges(
            Fixture fixture, @TempDir Path directory) throws Exception {
        List<String> names = List.of("ann", "bob", "cid");
        List<SecondProcess> processes = SecondProcess.connect(dsn(), names.size());
        try {
            List<Reply> works = new ArrayList<>();
            for (int i = 0; i < names.size(); i++) {
                SecondProcess process = processes.get(i);
                works.add(process.act("editTree", fixture.resource(), editorTtl(), directory, names.get(i), i));
            }
            for (int i = 0; i < names.size(); i++) {
                // Those before it are dead: it gets on without them.
                long more = count(directory, names.get(i), TreeActor.VISITED) + 3 + i;
                awaitSaid(works.get(i), directory, names.get(i), TreeActor.VISITED, more);
                processes.get(i).kill();
            }
        } finally {
            processes.forEach(SecondProcess::close);
        }
        assertFreeAgain(fixture, PARENTS.keySet());
        List<List<String>> said = new ArrayList<>();
        for (String name : names) {
            said.addAll(TreeActor.said(directory, name));
        }
        assertThat(said)
                .as("two where only one may be")
                .noneMatch(words -> words.get(0).equals(TreeActor.VIOLATION));
        assertChangesAreKnown(fixture, said);
    }

    private void assertChangesAreKnown(Fixture fixture, List<List<String>> said) {
        Map<String, Long> changes = said.stream()
                .filter(words -> words.get(0).equals(TreeActor.PUSHED))
                .flatMap(words ->
                        words.subList(2, words.size()).stream().map(id -> Map.entry(id, Long.parseLong(words.get(1)))))
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue, Math::max));
        assertThat(changes).as("changes that were pushed").isNotEmpty();
        Map<String, StateIndex> indexes = fixture.store(IndexStore.class)
                .indexes(changes.keySet().stream()
                        .map(id -> fixture.resource() + "/" + id)
                        .toList());
        changes.forEach((id, number) -> {
            assertThat(indexes.get(fixture.resource() + "/" + id))
                    .as("state index of %s", id)
                    .satisfies(index -> assertThat(index.exclusive()).isGreaterThanOrEqualTo(number));
            TreeEditor ignorant = TreeEditors.create(fixture, tree(fixture));
            ignorant.pulled(number - 1);
            assertThatThrownBy(() -> ignorant.acquire(TreeRequest.exclusive(id)))
                    .isInstanceOf(PullRequiredException.class);
        });
    }

    private static long count(Path directory, String name, String word) throws IOException {
        return TreeActor.said(directory, name).stream()
                .filter(words -> words.get(0).equals(word))
                .count();
    }

    private static void awaitSaid(Reply work, Path directory, String name, String word, long times) {
        Awaitility.await(name + " to say \"" + word + "\" " + times + " times")
                .pollInterval(Duration.ofMillis(1))
                .atMost(SecondProcess.LIMIT.multipliedBy(2))
                .until(() -> {
                    if (work.isDone()) {
                        throw new AssertionError(name + " has ended by itself: " + work.text());
                    }
                    return count(directory, name, word) >= times;
                });
    }
}
