package dev.latchkey.tree;

import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Thrown when what was requested is free, but was changed since the state that this editor knows: it must pull the
 * changes first. Nothing was acquired.
 */
public final class PullRequiredException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final long known;
    private final long required;
    private final TreeSet<String> stale;

    PullRequiredException(String tree, long known, Map<String, Long> stale) {
        super("tree \"" + tree + "\": a pull is required to lock " + IdText.ids(stale.keySet())
                + ": changed with index " + Collections.max(stale.values()) + ", and this editor knows " + known
                + "; nothing was locked");
        this.known = known;
        this.required = Collections.max(stale.values());
        this.stale = new TreeSet<>(stale.keySet());
    }

    /**
     * Returns the last change that this editor knew.
     *
     * @return the index passed to {@link TreeEditor#pulled}
     */
    public long known() {
        return known;
    }

    /**
     * Returns the last change that this editor has to know.
     *
     * @return the smallest index with which the request would not have been refused for this reason
     */
    public long required() {
        return required;
    }

    /**
     * Returns what was changed.
     *
     * @return the ids, including ancestors
     */
    public Set<String> stale() {
        return Collections.unmodifiableSet(stale);
    }
}
