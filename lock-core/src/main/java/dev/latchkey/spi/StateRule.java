package dev.latchkey.spi;

import dev.latchkey.LockMode;

/** Which changes somebody must know to take a resource. */
public enum StateRule {
    /**
     * To take it exclusively, all changes of it and below it; to share it, those made by somebody who held it exclusively.
     * Who holds an ancestor may change everything below it: this rule sees that in both directions.
     */
    BOTH_INDEXES,

    /**
     * The older rule: to take it exclusively, the changes made by somebody who held it exclusively; to share it, none. What
     * was changed under the lock of an ancestor or a descendant goes unnoticed.
     */
    EXCLUSIVE_INDEX;

    /**
     * Returns what has to be known.
     *
     * @param mode how the resource is to be held
     * @param index what is remembered of it
     * @return the least index that would do
     */
    public long required(LockMode mode, StateIndex index) {
        if (mode == LockMode.EXCLUSIVE) {
            return this == BOTH_INDEXES ? Math.max(index.exclusive(), index.shared()) : index.exclusive();
        }
        return this == BOTH_INDEXES ? index.exclusive() : 0;
    }
}
