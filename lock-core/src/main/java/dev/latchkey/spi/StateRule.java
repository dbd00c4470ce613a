package dev.latchkey.spi;

import dev.latchkey.LockMode;

/** Which changes a caller must know to acquire a resource. */
public enum StateRule {
    /**
     * To acquire a resource exclusively, the caller must know all changes of the resource and below it; to share it,
     * those by an exclusive holder. A holder of an ancestor may change everything below it: this rule detects such
     * changes in both directions.
     */
    BOTH_INDEXES,

    /**
     * The older rule. To acquire a resource exclusively, the caller must know the changes by an exclusive holder; to
     * share it, none. Changes under the lock of an ancestor or a descendant are not detected.
     */
    EXCLUSIVE_INDEX;

    /**
     * Returns the smallest sufficient index.
     *
     * @param mode the requested mode
     * @param index the stored numbers of the resource
     * @return the number of the last change that the caller must know
     */
    public long required(LockMode mode, StateIndex index) {
        if (mode == LockMode.EXCLUSIVE) {
            return this == BOTH_INDEXES ? Math.max(index.exclusive(), index.shared()) : index.exclusive();
        }
        return this == BOTH_INDEXES ? index.exclusive() : 0;
    }
}
