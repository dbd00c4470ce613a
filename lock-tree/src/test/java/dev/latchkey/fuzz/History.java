package dev.latchkey.fuzz;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The changes of a tree by their numbers, as the application keeps them. A number is reserved before its change is recorded. */
final class History {

    /**
     * A change of one id.
     *
     * @param parents where it is from then on; empty: only what is in it was changed
     */
    record Change(String id, List<String> parents) {

        void applyTo(Map<String, List<String>> tree) {
            if (!parents.isEmpty()) {
                tree.put(id, parents);
            }
        }
    }

    /** What one editor pushes. */
    static final class Push {
        private final int number;
        private final View author;
        private final List<Change> changes;
        private boolean pending = true;
        private boolean made;

        private Push(int number, View author, List<Change> changes) {
            this.number = number;
            this.author = author;
            this.changes = changes;
        }

        int number() {
            return number;
        }

        View author() {
            return author;
        }

        List<Change> changes() {
            return changes;
        }

        boolean isMade() {
            return made;
        }

        void succeeds() {
            pending = false;
            made = true;
        }

        /** The number stays, and nothing was changed with it. */
        void fails() {
            pending = false;
        }
    }

    private final Map<String, List<String>> first;
    private final List<Push> pushes = new ArrayList<>();

    History(Map<String, List<String>> first) {
        this.first = first;
    }

    /** Draws a tree: an id has parents among those before it. */
    static History draw(World world) {
        Map<String, List<String>> tree = new HashMap<>();
        int size = 3 + world.draw(4);
        boolean severalParents = world.oneIn(3);
        for (int i = 0; i < size; i++) {
            Set<String> parents = new TreeSet<>();
            for (int p = 0; i > 0 && p < (severalParents ? 2 : 1); p++) {
                parents.add("n" + world.draw(i));
            }
            tree.put("n" + i, List.copyOf(parents));
        }
        return new History(tree);
    }

    Map<String, List<String>> first() {
        return first;
    }

    int size() {
        return first.size();
    }

    Push begin(View author, List<Change> changes) {
        Push push = new Push(pushes.size() + 1, author, changes);
        pushes.add(push);
        return push;
    }

    List<Push> pushes() {
        return pushes;
    }

    /** The last number up to which all is decided. */
    int last() {
        int last = 0;
        while (last < pushes.size() && !pushes.get(last).pending) {
            last++;
        }
        return last;
    }
}
