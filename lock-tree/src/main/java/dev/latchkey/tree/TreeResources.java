package dev.latchkey.tree;

import dev.latchkey.LockMode;
import dev.latchkey.spi.BatchAttempt;
import java.util.Map;
import java.util.TreeMap;

/**
 * Maps the ids of a tree to resources of the store. The name of a tree contains no slash, so two trees never share a
 * resource.
 */
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
