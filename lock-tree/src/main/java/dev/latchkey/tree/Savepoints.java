package dev.latchkey.tree;

import dev.latchkey.LockMode;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/**
 * What was held at each savepoint of an editor, by resource, as an undo list: done ones can be rolled back from the last on,
 * and those reinstated in their order. Locks are only ever added between two savepoints, so that what was held at the one is
 * part of what was held at the other. No I/O; inside the turn.
 */
final class Savepoints {

    /**
     * What was locked from one savepoint to the next.
     *
     * @param before what was held at the savepoint
     * @param after what had been held at the next one; known once it is rolled back
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
     * Tells whether a savepoint is rolled back.
     *
     * @throws IllegalArgumentException if it is over, or of another editor
     */
    boolean isUndone(TreeSavepoint savepoint) {
        if (isIn(undone, savepoint)) {
            return true;
        }
        if (isIn(done, savepoint)) {
            return false;
        }
        throw new IllegalArgumentException(
                savepoint + " is over, or belongs to another editor: since it was set, changes were"
                        + " pushed, everything was released, or it was rolled back and another one set. Nothing was changed");
    }

    private static boolean isIn(Deque<Step> steps, TreeSavepoint savepoint) {
        return steps.stream().anyMatch(step -> step.savepoint == savepoint);
    }

    /**
     * Takes back all from a savepoint on.
     *
     * @param held now
     * @return what is to be held
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
     * Looks up what a rolled-back savepoint, and those before it, had in addition to what is held now.
     *
     * @return what is to be taken, and how
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
     * Remembers that all up to a savepoint is held again.
     *
     * @param held before that
     * @param ancestors what was taken besides, for what the tree is now: kept as long as the first of what is reinstated
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
