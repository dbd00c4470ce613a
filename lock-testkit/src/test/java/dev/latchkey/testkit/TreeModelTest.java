package dev.latchkey.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.LockMode;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.Holder;
import dev.latchkey.spi.StateIndex;
import dev.latchkey.spi.StateRule;
import dev.latchkey.store.InMemoryStore;
import dev.latchkey.testkit.MortalStore.Batching;
import dev.latchkey.tree.PullRequiredException;
import dev.latchkey.tree.TreeConflictException;
import dev.latchkey.tree.TreeEditor;
import dev.latchkey.tree.TreeLocks;
import dev.latchkey.tree.TreeRequest;
import dev.latchkey.tree.TreeSavepoint;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Editors do random things to random trees, some die in the middle of a call, and after each step what they hold is compared
 * with a plain model that is told nothing but what succeeded. A failure names its seed.
 */
@Tag("slow")
class TreeModelTest {

    private static final int STEPS = 150;
    private static final int EDITORS = 4;
    private static final String TREE = "model";

    static Stream<Arguments> runs() {
        return Stream.of(Batching.values())
                .flatMap(batching -> Stream.of(StateRule.values())
                        .flatMap(rule -> Stream.iterate(1L, seed -> seed + 1)
                                .limit(20)
                                .map(seed -> Arguments.of(batching, rule, seed))));
    }

    @ParameterizedTest
    @MethodSource("runs")
    void givenRandomTree_whenEditorsDoRandomThingsAndDie_thenAsInTheModel(
            Batching batching, StateRule rule, long seed) {
        new Run(batching, rule, new Random(seed)).go();
    }

    private static LockMode stronger(LockMode one, LockMode other) {
        return one == LockMode.EXCLUSIVE ? one : other;
    }

    /** One editor, and what the model knows of it. */
    private static final class Editor {

        private final MortalStore store;
        private final TreeEditor locks;
        private final Map<String, LockMode> held = new TreeMap<>();
        private final List<Step> steps = new ArrayList<>();
        private long known;

        Editor(MortalStore store, TreeEditor locks) {
            this.store = store;
            this.locks = locks;
        }
    }

    /** What an editor locks between two savepoints. */
    private static final class Step {

        private final TreeSavepoint savepoint;
        private Map<String, LockMode> before = new TreeMap<>();
        private Map<String, LockMode> after = new TreeMap<>();
        private boolean undone;

        Step(TreeSavepoint savepoint) {
            this.savepoint = savepoint;
        }
    }

    private static final class Run {

        private final Batching batching;
        private final StateRule rule;
        private final Random random;
        private final InMemoryStore store = new InMemoryStore();
        private final Map<String, List<String>> parents = new TreeMap<>();
        private final Map<String, StateIndex> indexes = new HashMap<>();
        private final List<Editor> editors = new ArrayList<>();
        private long last;

        Run(Batching batching, StateRule rule, Random random) {
            this.batching = batching;
            this.rule = rule;
            this.random = random;
            int size = 2 + random.nextInt(14);
            boolean severalParents = random.nextBoolean();
            for (int i = 0; i < size; i++) {
                Set<String> its = new TreeSet<>();
                int count = i == 0 ? 0 : 1 + (severalParents ? random.nextInt(3) : 0);
                for (int p = 0; p < count; p++) {
                    its.add("n" + random.nextInt(i));
                }
                parents.put("n" + i, List.copyOf(its));
            }
            for (int i = 0; i < EDITORS; i++) {
                editors.add(newEditor());
            }
        }

        private Editor newEditor() {
            MortalStore own = new MortalStore(store, batching);
            return new Editor(
                    own, TreeLocks.of(own, TREE).stateRule(rule).create().createEditor(parents::get));
        }

        void go() {
            for (int step = 0; step < STEPS; step++) {
                int who = random.nextInt(EDITORS);
                Editor editor = editors.get(who);
                boolean mayDie = random.nextInt(12) == 0;
                if (mayDie) {
                    editor.store.dieAfter(random.nextInt(6), random.nextBoolean());
                }
                try {
                    step(editor);
                    editor.store.live();
                } catch (LockStorageException e) {
                    assertThat(mayDie).as("only the dying fail").isTrue();
                    bury(editor);
                    editors.set(who, newEditor());
                }
                check();
            }
        }

        private void step(Editor editor) {
            switch (random.nextInt(13)) {
                case 0 -> {
                    editor.locks.releaseAll();
                    editor.held.clear();
                    editor.steps.clear();
                }
                case 1 -> push(editor);
                case 2 -> {
                    editor.locks.pulled(last);
                    editor.known = last;
                }
                case 3 -> editor.locks.refresh();
                case 4 -> {
                    Step step = new Step(editor.locks.savepoint());
                    step.before.putAll(editor.held);
                    editor.steps.removeIf(old -> old.undone);
                    editor.steps.add(step);
                }
                case 5 -> anyStep(editor).ifPresent(step -> rollback(editor, step));
                case 6 -> anyStep(editor).ifPresent(step -> reinstate(editor, step));
                default -> acquire(editor, request());
            }
        }

        private Optional<Step> anyStep(Editor editor) {
            return editor.steps.isEmpty()
                    ? Optional.empty()
                    : Optional.of(editor.steps.get(random.nextInt(editor.steps.size())));
        }

        private void rollback(Editor editor, Step to) {
            editor.locks.rollback(to.savepoint);
            for (int i = editor.steps.size() - 1; i >= editor.steps.indexOf(to); i--) {
                Step step = editor.steps.get(i);
                if (!step.undone) {
                    step.undone = true;
                    step.after = new TreeMap<>(editor.held);
                    editor.held.clear();
                    editor.held.putAll(step.before);
                }
            }
        }

        private void reinstate(Editor editor, Step to) {
            List<Step> again = editor.steps.subList(0, editor.steps.indexOf(to) + 1).stream()
                    .filter(step -> step.undone)
                    .toList();
            Map<String, LockMode> reached = new TreeMap<>(editor.held);
            again.forEach(step -> step.after.forEach((id, mode) -> reached.merge(id, mode, TreeModelTest::stronger)));
            Map<String, LockMode> missing = new TreeMap<>(reached);
            missing.entrySet().removeAll(editor.held.entrySet());
            attempt(editor, missing, () -> {
                editor.locks.reinstate(to.savepoint);
                for (Step step : again) {
                    step.undone = false;
                    step.before = new TreeMap<>(editor.held);
                    step.after.forEach((id, mode) -> editor.held.merge(id, mode, TreeModelTest::stronger));
                }
            });
        }

        private TreeRequest request() {
            Set<String> exclusive = new HashSet<>();
            Set<String> shared = new HashSet<>();
            int count = 1 + random.nextInt(3);
            for (int i = 0; i < count; i++) {
                (random.nextBoolean() ? exclusive : shared).add("n" + random.nextInt(parents.size()));
            }
            return new TreeRequest(exclusive, shared);
        }

        private void push(Editor editor) {
            if (editor.known != last) {
                return;
            }
            last++;
            boolean retains = random.nextBoolean();
            if (retains) {
                editor.locks.pushedRetaining(last);
            } else {
                editor.locks.pushed(last);
            }
            editor.known = last;
            editor.held.forEach((id, mode) -> raise(id, mode, last));
            editor.steps.clear();
            if (!retains) {
                editor.held.clear();
            }
        }

        private void raise(String id, LockMode mode, long index) {
            StateIndex raised = mode == LockMode.EXCLUSIVE ? new StateIndex(index, 0) : new StateIndex(0, index);
            indexes.merge(id, raised, StateIndex::raisedTo);
        }

        private void acquire(Editor editor, TreeRequest request) {
            Map<String, LockMode> missing = missing(editor, request);
            attempt(editor, missing, () -> {
                editor.locks.acquire(request);
                editor.held.putAll(missing);
                request.exclusive()
                        .forEach(id ->
                                assertThat(editor.locks.holdsExclusive(id)).isTrue());
                request.shared()
                        .forEach(id -> assertThat(editor.locks.holdsShared(id)).isTrue());
            });
        }

        /** Takes something, which must fail exactly if the model says so. */
        private void attempt(Editor editor, Map<String, LockMode> missing, Runnable taking) {
            Map<String, LockMode> blocked = new TreeMap<>(missing);
            blocked.entrySet().removeIf(one -> !isBlocked(editor, one.getKey(), one.getValue()));
            Set<String> stale = new TreeSet<>();
            missing.forEach((id, mode) -> {
                if (rule.required(mode, indexes.getOrDefault(id, StateIndex.NONE)) > editor.known) {
                    stale.add(id);
                }
            });
            try {
                taking.run();
                assertThat(blocked).as("granted").isEmpty();
                assertThat(stale).as("granted").isEmpty();
            } catch (TreeConflictException e) {
                assertThat(e.blocked()).isNotEmpty().isEqualTo(blocked);
            } catch (PullRequiredException e) {
                assertThat(blocked).as("pull required").isEmpty();
                assertThat(e.stale()).isNotEmpty().isEqualTo(stale);
            }
        }

        private Map<String, LockMode> missing(Editor editor, TreeRequest request) {
            Map<String, LockMode> missing = new TreeMap<>();
            request.shared().stream()
                    .filter(id -> !editor.held.containsKey(id) && !isCovered(editor, id))
                    .forEach(id -> missing.put(id, LockMode.SHARED));
            request.exclusive().stream()
                    .filter(id -> editor.held.get(id) != LockMode.EXCLUSIVE && !isCovered(editor, id))
                    .forEach(id -> missing.put(id, LockMode.EXCLUSIVE));
            for (String id : List.copyOf(missing.keySet())) {
                ancestors(id).stream()
                        .filter(above -> !editor.held.containsKey(above) && !isBelowExclusive(editor, above))
                        .forEach(above -> missing.putIfAbsent(above, LockMode.SHARED));
            }
            return missing;
        }

        private boolean isCovered(Editor editor, String id) {
            return isBelowExclusive(editor, id)
                    && ancestors(id).stream()
                            .allMatch(above -> editor.held.containsKey(above) || isBelowExclusive(editor, above));
        }

        private boolean isBelowExclusive(Editor editor, String id) {
            return ancestors(id).stream().anyMatch(above -> editor.held.get(above) == LockMode.EXCLUSIVE);
        }

        private Set<String> ancestors(String id) {
            Set<String> all = new TreeSet<>();
            for (String parent : parents.getOrDefault(id, List.of())) {
                all.add(parent);
                all.addAll(ancestors(parent));
            }
            return all;
        }

        private boolean isBlocked(Editor editor, String id, LockMode mode) {
            return editors.stream()
                    .filter(other -> other != editor && other.held.containsKey(id))
                    .anyMatch(other -> mode == LockMode.EXCLUSIVE || other.held.get(id) == LockMode.EXCLUSIVE);
        }

        /** Its leases end, and what it recorded stays. */
        private void bury(Editor editor) {
            if (batching == Batching.ALL_AT_ONCE) {
                assertThat(editor.store.isWhole())
                        .as("all of a batch or nothing")
                        .isTrue();
            }
            editor.store.endLeases();
            Map<String, StateIndex> there = new HashMap<>();
            parents.keySet()
                    .forEach(id ->
                            store.indexes(List.of(TREE + "/" + id)).values().forEach(index -> there.put(id, index)));
            editor.held.forEach((id, mode) -> {
                StateIndex before = indexes.getOrDefault(id, StateIndex.NONE);
                StateIndex now = there.getOrDefault(id, StateIndex.NONE);
                assertThat(now.raisedTo(before)).as("indexes never get less").isEqualTo(now);
            });
            indexes.clear();
            indexes.putAll(there);
        }

        private void check() {
            for (String id : parents.keySet()) {
                List<Editor> writers = editors.stream()
                        .filter(editor -> editor.locks.holdsExclusive(id))
                        .toList();
                List<Editor> readers = editors.stream()
                        .filter(editor -> editor.locks.holdsShared(id))
                        .toList();
                assertThat(writers).as("who may change %s", id).hasSizeLessThanOrEqualTo(1);
                assertThat(writers.isEmpty() || readers.equals(writers))
                        .as("nobody relies on %s while it is changed", id)
                        .isTrue();
                assertThat(store.holders(TREE + "/" + id).stream().map(Holder::mode))
                        .as("what the store keeps of %s", id)
                        .containsExactlyInAnyOrderElementsOf(editors.stream()
                                .flatMap(editor -> Stream.ofNullable(editor.held.get(id)))
                                .toList());
            }
            editors.forEach(editor -> assertThat(editor.locks.held()).isEqualTo(editor.held));
        }
    }
}
