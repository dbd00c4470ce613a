package dev.latchkey.tree;

import dev.latchkey.LockMode;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * Thrown when other editors hold what was requested, or hold an ancestor that has to be shared for it. Nothing was
 * acquired.
 */
public final class TreeConflictException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final TreeMap<String, LockMode> blocked;

    TreeConflictException(String tree, Map<String, LockMode> blocked) {
        super("tree \"" + tree + "\": other editors hold " + IdText.ids(blocked.keySet())
                + "; nothing was locked. Wait for them, or ask for less");
        this.blocked = new TreeMap<>(blocked);
    }

    /**
     * Returns all ids that could not be locked.
     *
     * @return the requested mode by id; shared for ancestors that the request did not name
     */
    public Map<String, LockMode> blocked() {
        return Collections.unmodifiableMap(blocked);
    }
}
