package dev.latchkey.tree;

import dev.latchkey.Glimpse;
import dev.latchkey.Key;
import dev.latchkey.Lock;
import dev.latchkey.LockMode;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** What an editor's locks believe, for who judges them: looking changes nothing. */
public final class TreeGlimpse {

    private final TreeResources ids;
    private final EditorKeys keys;
    private final Glimpse lock;
    private final Ancestors.Tree tree;

    private TreeGlimpse(TreeResources ids, EditorKeys keys, Glimpse lock, Ancestors.Tree tree) {
        this.ids = ids;
        this.keys = keys;
        this.lock = lock;
        this.tree = tree;
    }

    /**
     * Looks at the locks of an editor.
     *
     * @param editor of the public API
     * @param parents as the editor was made with
     * @return what they believe, now and later
     */
    public static TreeGlimpse of(TreeEditor editor, Function<String, ? extends Collection<String>> parents) {
        EditorHold editorHold = field(editor, "editorHold", EditorHold.class);
        return new TreeGlimpse(
                field(editor, "ids", TreeResources.class),
                field(editorHold, "keys", EditorKeys.class),
                Glimpse.of(field(editorHold, "lock", Lock.class)),
                new Ancestors.Tree(parents, id -> false));
    }

    private static <T> T field(Object of, String name, Class<T> type) {
        try {
            var field = of.getClass().getDeclaredField(name);
            field.setAccessible(true);
            return type.cast(field.get(of));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Returns the Lock that watches over all that is held.
     *
     * @return what it believes
     */
    public Glimpse lock() {
        return lock;
    }

    /**
     * Returns what is held, also when it was lost.
     *
     * @return the keys by resource, each with how
     */
    public Map<String, Key> keys() {
        return keys.keys();
    }

    /**
     * Counts what changes the keys.
     *
     * @return another number after each change
     */
    public long changes() {
        return keys.changes();
    }

    /**
     * Tells how an id is held itself.
     *
     * @param id of what
     * @return empty if it is not
     */
    public Optional<LockMode> mode(String id) {
        return Optional.ofNullable(keys.keys().get(ids.resource(id))).map(EditorKeys::mode);
    }

    /**
     * Tells what the locks allow as long as they are not lost.
     *
     * @param id of what
     * @return whether it may be changed
     */
    public boolean mayChange(String id) {
        return new Ancestors(tree, this::mode).holdsExclusive(id);
    }

    /**
     * Tells what the locks keep from others as long as they are not lost.
     *
     * @param id of what
     * @return whether nobody else may change it
     */
    public boolean mayRelyOn(String id) {
        return new Ancestors(tree, this::mode).holdsShared(id);
    }
}
