package dev.latchkey.tree;

import dev.latchkey.LockMode;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/**
 * The savepoints of an editor, as an undo list, with what was held at each. Savepoints are rolled back from the last one on, and
 * reinstated in their original order. Between two savepoints locks are only added, so everything that was held at the earlier
 * one was also held at the later one. Does no I/O. Used in the editor's turn.
 */
final class Savepoints {

    /**
     * The locks from one savepoint to the next.
     *
     * @param before what was held at the savepoint, by resource
     * @param after what was held at the next one; known once the savepoint is rolled back
     */
    private record Step(TreeSavepoint savepoint, Map<String, LockMode> before, Map<String, LockMode> after) {}

    private final String tree;
    private final Deque<Step> done = new ArrayDeque<>();
    private final Deque<Step> undone = new ArrayDeque<>();
    private long number;

    Savepoints(String tree) {
        this.tree = tree;
    }

    TreeSavepoint begin(Map<String, LockMode> held) {
        number++;
        TreeSavepoint savepoint = new TreeSavepoint("savepoint " + number + " of tree \"" + tree + "\"");
        undone.clear();
        done.addLast(new Step(savepoint, held, Map.of()));
        return savepoint;
    }

    /**
     * Returns whether a savepoint is rolled back.
     *
     * @throws IllegalArgumentException if it has ended, or belongs to another editor
     */
    boolean isUndone(TreeSavepoint savepoint) {
        if (isIn(undone, savepoint)) {
            return true;
        }
        if (isIn(done, savepoint)) {
            return false;
        }
        throw new IllegalArgumentException(
                savepoint + " has ended or belongs to another editor: since it was set, changes were pushed, everything"
                        + " was released, or it was rolled back and another one was set. Nothing was changed");
    }

    private static boolean isIn(Deque<Step> steps, TreeSavepoint savepoint) {
        return steps.stream().anyMatch(step -> step.savepoint == savepoint);
    }

    /**
     * Rolls back a savepoint and all later ones.
     *
     * @param held what is held now
     * @return what is to be held afterwards
     */
    Map<String, LockMode> rollBack(TreeSavepoint savepoint, Map<String, LockMode> held) {
        Map<String, LockMode> state = held;
        Step step;
        do {
            step = done.removeLast();
            undone.addFirst(new Step(step.savepoint, step.before, state));
            state = step.before;
        } while (step.savepoint != savepoint);
        return state;
    }

    /**
     * Returns what a rolled-back savepoint and those before it held in addition to what is held now.
     *
     * @return the modes to acquire, by resource
     */
    Map<String, LockMode> missing(TreeSavepoint savepoint, Map<String, LockMode> held) {
        Map<String, LockMode> missing = undone.stream()
                .filter(step -> step.savepoint == savepoint)
                .findFirst()
                .map(step -> together(held, step.after))
                .orElseThrow();
        missing.entrySet().removeAll(held.entrySet());
        return missing;
    }

    /**
     * Records that everything up to a savepoint is held again.
     *
     * @param held what was held before
     * @param ancestors the present ancestors that were acquired as well: they are kept as long as the first savepoint that is
     *     reinstated
     */
    void reinstate(TreeSavepoint savepoint, Map<String, LockMode> held, Map<String, LockMode> ancestors) {
        Map<String, LockMode> state = held;
        Step step;
        do {
            step = undone.removeFirst();
            done.addLast(new Step(step.savepoint, state, Map.of()));
            state = together(together(state, step.after), ancestors);
        } while (step.savepoint != savepoint);
    }

    private static Map<String, LockMode> together(Map<String, LockMode> one, Map<String, LockMode> other) {
        Map<String, LockMode> all = new HashMap<>(one);
        other.forEach((resource, mode) -> all.merge(resource, mode, (a, b) -> a == LockMode.EXCLUSIVE ? a : b));
        return all;
    }

    void end() {
        done.clear();
        undone.clear();
    }
}
