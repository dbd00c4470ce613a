package dev.latchkey.tree;

/**
 * A savepoint to which the locks of an editor can be rolled back: see {@link TreeEditor#savepoint()}. Other editors cannot
 * use it.
 *
 * <p>Immutable.
 */
public final class TreeSavepoint {

    private final String description;

    TreeSavepoint(String description) {
        this.description = description;
    }

    /**
     * Returns a description for people.
     *
     * @return the name of the tree, and the number of this savepoint of its editor
     */
    @Override
    public String toString() {
        return description;
    }
}
