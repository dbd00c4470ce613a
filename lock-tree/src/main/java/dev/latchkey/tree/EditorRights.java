package dev.latchkey.tree;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Decides what an editor may do with what it holds at the moment. Sends no request to the store, and takes no turn. */
final class EditorRights {

    private final TreeResources ids;
    private final Ancestors.Tree tree;
    private final EditorHold editorHold;

    EditorRights(TreeResources ids, Ancestors.Tree tree, EditorHold editorHold) {
        this.ids = ids;
        this.tree = tree;
        this.editorHold = editorHold;
    }

    boolean holdsExclusive(String id) {
        return ancestry().holdsExclusive(id) && !editorHold.isLost();
    }

    boolean holdsShared(String id) {
        return ancestry().holdsShared(id) && !editorHold.isLost();
    }

    void checkExclusive(String id) {
        boolean holds = ancestry().holdsExclusive(id);
        editorHold.checkNotLost(IdText.id(id) + " may not be changed");
        if (!holds) {
            throw new IllegalStateException("tree \"" + ids.tree() + "\": no exclusive lock is held on " + IdText.id(id)
                    + " or on one of its ancestors: acquire one before you change it");
        }
    }

    void checkShared(String id) {
        boolean holds = ancestry().holdsShared(id);
        editorHold.checkNotLost("nothing may be added below " + IdText.id(id));
        if (!holds) {
            throw new IllegalStateException("tree \"" + ids.tree() + "\": no shared lock is held on " + IdText.id(id)
                    + ": acquire one before you add something below it");
        }
    }

    Map<String, LockMode> held() {
        Map<String, LockMode> held = new TreeMap<>();
        editorHold.modes().forEach((resource, mode) -> held.put(ids.id(resource), mode));
        return editorHold.isLost() ? Map.of() : held;
    }

    /** Returns what has to be acquired for a request, by id. */
    Map<String, LockMode> missing(TreeRequest request) {
        return ancestry().missing(request);
    }

    /** Returns which ancestors have to be acquired in addition, by id. */
    Map<String, LockMode> ancestors(Map<String, LockMode> wanted) {
        return ancestry().ancestors(wanted);
    }

    private Ancestors ancestry() {
        Map<String, Key> keys = editorHold.keys();
        return new Ancestors(
                tree, id -> Optional.ofNullable(keys.get(ids.resource(id))).map(EditorKeys::mode));
    }
}
