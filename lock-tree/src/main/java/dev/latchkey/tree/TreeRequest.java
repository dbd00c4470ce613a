package dev.latchkey.tree;

import java.util.Set;

/**
 * What an editor wants to lock at once. Ancestors need not be named. What is in both sets is taken exclusively.
 *
 * @param exclusive what it wants to change, delete, or change anything below of
 * @param shared what it wants to add children to, or to keep from being changed
 */
public record TreeRequest(Set<String> exclusive, Set<String> shared) {

    /**
     * Keeps copies.
     *
     * @param exclusive copied
     * @param shared copied
     */
    public TreeRequest {
        exclusive = Set.copyOf(exclusive);
        shared = Set.copyOf(shared);
    }

    /**
     * Asks for exclusive locks.
     *
     * @param ids of what
     * @return a request for those alone
     */
    public static TreeRequest exclusive(String... ids) {
        return new TreeRequest(Set.of(ids), Set.of());
    }

    /**
     * Asks for shared locks.
     *
     * @param ids of what
     * @return a request for those alone
     */
    public static TreeRequest shared(String... ids) {
        return new TreeRequest(Set.of(), Set.of(ids));
    }
}
