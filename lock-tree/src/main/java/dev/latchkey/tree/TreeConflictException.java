package dev.latchkey.tree;

import dev.latchkey.LockMode;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/** Other editors hold what was asked for, or what has to be shared for it. Nothing was taken. */
public final class TreeConflictException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final TreeMap<String, LockMode> blocked;

    TreeConflictException(String tree, Map<String, LockMode> blocked) {
        super("tree \"" + tree + "\": other editors hold " + IdText.ids(blocked.keySet())
                + "; nothing was locked. Wait for them, or ask for less");
        this.blocked = new TreeMap<>(blocked);
    }

    /**
     * Returns everything that stood in the way.
     *
     * @return how it was to be locked, by id: shared also for ancestors that were not named in the request
     */
    public Map<String, LockMode> blocked() {
        return Collections.unmodifiableMap(blocked);
    }
}
