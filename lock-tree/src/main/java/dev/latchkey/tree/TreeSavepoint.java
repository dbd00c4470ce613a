package dev.latchkey.tree;

/**
 * A moment to which an editor's locks can go back: see {@link TreeLocks#savepoint()}. Says nothing to other editors.
 *
 * <p>Immutable.
 */
public final class TreeSavepoint {

    private final String description;

    TreeSavepoint(String description) {
        this.description = description;
    }

    /**
     * Describes it for people.
     *
     * @return of which tree, and the how manyth of its editor
     */
    @Override
    public String toString() {
        return description;
    }
}
