package dev.latchkey.testkit;

import dev.latchkey.tree.TreeConflictException;
import dev.latchkey.tree.TreeEditor;
import dev.latchkey.tree.TreeRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

/** Editors of one tree at the same time, who notice when two of them are where only one may be. */
final class TreeCrowd {

    private static final int ROUNDS = 25;
    private static final int ALONE = -1;

    private final List<String> ids;
    private final Map<String, Integer> inside = new ConcurrentHashMap<>();

    TreeCrowd(Collection<String> all) {
        this.ids = List.copyOf(new TreeSet<>(all));
    }

    /** Locks, looks who else is there, and gives up; returns how often that came to pass. */
    int edit(TreeEditor editor, Random random) throws InterruptedException {
        int succeeded = 0;
        for (int round = 0; round < ROUNDS; round++) {
            TreeRequest request = new TreeRequest(Set.of(any(random)), Set.of(any(random)));
            try {
                editor.acquire(request, Duration.ofSeconds(30));
            } catch (TreeConflictException e) {
                continue;
            }
            visit(editor);
            editor.releaseAll();
            succeeded++;
        }
        return succeeded;
    }

    private void visit(TreeEditor editor) {
        List<Runnable> leaving = new ArrayList<>();
        for (String id : ids) {
            if (editor.holdsExclusive(id)) {
                inside.merge(id, ALONE, (others, me) -> alone(id, others, me));
                leaving.add(() -> inside.remove(id));
            } else if (editor.holdsShared(id)) {
                inside.merge(id, 1, (others, me) -> together(id, others, me));
                leaving.add(() -> inside.computeIfPresent(id, (same, others) -> others == 1 ? null : others - 1));
            }
        }
        Thread.onSpinWait();
        leaving.forEach(Runnable::run);
    }

    private int alone(String id, int others, int me) {
        if (others != 0) {
            throw new AssertionError("changes " + id + " while others are there: " + others);
        }
        return me;
    }

    private int together(String id, int others, int me) {
        if (others < 0) {
            throw new AssertionError("relies on " + id + " while another changes it");
        }
        return others + me;
    }

    private String any(Random random) {
        return ids.get(random.nextInt(ids.size()));
    }
}
