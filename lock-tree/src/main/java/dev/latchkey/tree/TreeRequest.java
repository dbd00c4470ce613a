package dev.latchkey.tree;

import java.util.Set;

/**
 * The ids that an editor wants to lock at once. Ancestors need not be named. An id in both sets is locked exclusively.
 *
 * @param exclusive the ids to change, to delete, or to change anything below
 * @param shared the ids to add children to, or to protect from changes
 */
public record TreeRequest(Set<String> exclusive, Set<String> shared) {

    /**
     * Copies the sets.
     *
     * @param exclusive is copied
     * @param shared is copied
     */
    public TreeRequest {
        exclusive = Set.copyOf(exclusive);
        shared = Set.copyOf(shared);
    }

    /**
     * Creates a request for exclusive locks.
     *
     * @param ids the ids to lock
     * @return a request for these ids only
     */
    public static TreeRequest exclusive(String... ids) {
        return new TreeRequest(Set.of(ids), Set.of());
    }

    /**
     * Creates a request for shared locks.
     *
     * @param ids the ids to lock
     * @return a request for these ids only
     */
    public static TreeRequest shared(String... ids) {
        return new TreeRequest(Set.of(), Set.of(ids));
    }
}
