package dev.latchkey.tree;

import dev.latchkey.LockMode;
import dev.latchkey.spi.BatchAttempt;
import java.util.Map;
import java.util.TreeMap;

/** The ids of a tree as resources of a store: its name has no slash, so that no two trees share one. */
record TreeResources(String tree) {

    String resource(String id) {
        return tree + '/' + id;
    }

    String id(String resource) {
        return resource.substring(tree.length() + 1);
    }

    PullRequiredException pullRequired(long known, BatchAttempt.Stale stale) {
        Map<String, Long> required = new TreeMap<>();
        stale.required().forEach((resource, index) -> required.put(id(resource), index));
        return new PullRequiredException(tree, known, required);
    }

    TreeConflictException conflict(Map<String, LockMode> asked, BatchAttempt.Conflicted conflict) {
        Map<String, LockMode> blocked = new TreeMap<>();
        conflict.resources().forEach(resource -> {
            String id = id(resource);
            blocked.put(id, asked.getOrDefault(id, LockMode.SHARED));
        });
        return new TreeConflictException(tree, blocked);
    }
}
