package dev.latchkey.tree;

import dev.latchkey.LockMode;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The ancestors of the ids of one request, as the parents function returns them now, and what the editor's locks mean for
 * them. The parents of each id are read once.
 *
 * <p>An id is <em>covered</em>, as if it were held exclusively itself, if one of its ancestors is held exclusively and no other
 * editor can reach it through another parent: each of its ancestors is held by this editor in some mode, or is below an id that
 * this editor holds exclusively. Then nobody else can hold any of them exclusively. If every id has one parent, the second
 * condition is always met. A new id counts as held exclusively.
 */
final class Ancestors {

    /**
     * The tree as the application knows it.
     *
     * @param parents returns the current parents of an id
     * @param isNew returns whether only this editor knows an id, so that it needs no lock
     */
    record Tree(Function<String, ? extends Collection<String>> parents, Predicate<String> isNew) {}

    /** What the editor holds above an id, without the id itself. */
    private record Above(Set<String> parents, boolean exclusive, boolean shielded) {}

    /** An id whose parents are being visited. */
    private record Step(String id, Set<String> parents, Iterator<String> next) {}

    private final Tree tree;
    private final Function<String, Optional<LockMode>> held;
    private final Map<String, Above> known = new HashMap<>();

    Ancestors(Tree tree, Function<String, Optional<LockMode>> held) {
        this.tree = tree;
        this.held = held;
    }

    boolean holdsExclusive(String id) {
        return isOwn(id) || isCovered(id);
    }

    boolean holdsShared(String id) {
        return isHeld(id) || isOwn(id) || isCovered(id);
    }

    private boolean isHeld(String id) {
        return held.apply(id).isPresent();
    }

    /** Returns whether an id is held exclusively, or new. */
    private boolean isOwn(String id) {
        return isHeldExclusively(id) || tree.isNew.test(id);
    }

    private boolean isHeldExclusively(String id) {
        return held.apply(id).filter(mode -> mode == LockMode.EXCLUSIVE).isPresent();
    }

    private boolean isCovered(String id) {
        Above above = above(id);
        return above.exclusive && above.shielded;
    }

    /** Returns what has to be acquired for a request, by id, without what is held or covered already. */
    Map<String, LockMode> missing(TreeRequest request) {
        Map<String, LockMode> missing = new LinkedHashMap<>();
        for (String id : request.exclusive()) {
            if (!holdsExclusive(id)) {
                missing.put(id, LockMode.EXCLUSIVE);
            }
        }
        for (String id : request.shared()) {
            if (!holdsShared(id)) {
                missing.putIfAbsent(id, LockMode.SHARED);
            }
        }
        shareAncestors(missing);
        return missing;
    }

    /** Returns what has to be acquired in addition, so that every ancestor is shared. */
    Map<String, LockMode> ancestors(Map<String, LockMode> wanted) {
        Map<String, LockMode> all = new LinkedHashMap<>(wanted);
        shareAncestors(all);
        all.keySet().removeAll(wanted.keySet());
        return all;
    }

    private void shareAncestors(Map<String, LockMode> missing) {
        Set<String> seen = new HashSet<>();
        Deque<String> open = new ArrayDeque<>();
        missing.keySet().forEach(id -> open.addAll(above(id).parents));
        while (!open.isEmpty()) {
            String ancestor = open.pop();
            // The ancestors of a held id were shared when it was acquired.
            if (!isHeld(ancestor) && seen.add(ancestor)) {
                if (!above(ancestor).exclusive && !isOwn(ancestor)) {
                    missing.putIfAbsent(ancestor, LockMode.SHARED);
                }
                open.addAll(above(ancestor).parents);
            }
        }
    }

    private Above above(String id) {
        Above found = known.get(id);
        return found != null ? found : walk(id);
    }

    /** Visits ancestors first. Without recursion, because a tree may be deeper than the stack. */
    private Above walk(String start) {
        Deque<Step> path = new ArrayDeque<>();
        Set<String> onPath = new LinkedHashSet<>();
        enter(start, path, onPath);
        while (true) {
            Step step = path.element();
            if (step.next.hasNext()) {
                String parent = step.next.next();
                if (onPath.contains(parent)) {
                    throw cycle(onPath, parent);
                }
                if (!known.containsKey(parent) && !isHeldExclusively(parent)) {
                    enter(parent, path, onPath);
                }
                continue;
            }
            Above above = judge(step.parents);
            known.put(step.id, above);
            onPath.remove(step.id);
            path.pop();
            if (path.isEmpty()) {
                return above;
            }
        }
    }

    private void enter(String id, Deque<Step> path, Set<String> onPath) {
        @Nullable Collection<String> told = tree.parents.apply(id);
        if (told == null) {
            throw new IllegalArgumentException("unknown id " + IdText.id(id)
                    + ": the parents function returned null for it; for a root, it must return an empty collection");
        }
        Set<String> its = Set.copyOf(told);
        path.push(new Step(id, its, its.iterator()));
        onPath.add(id);
    }

    private Above judge(Set<String> its) {
        boolean exclusive = false;
        boolean shielded = true;
        for (String parent : its) {
            if (isHeldExclusively(parent)) {
                // Its ancestors were shared when it was acquired, so they need not be visited.
                exclusive = true;
                continue;
            }
            Above above = above(parent);
            exclusive |= above.exclusive || isOwn(parent);
            shielded &= above.shielded && (above.exclusive || isHeld(parent) || isOwn(parent));
        }
        return new Above(its, exclusive, shielded);
    }

    private static IllegalArgumentException cycle(Set<String> path, String again) {
        List<String> ids = List.copyOf(path);
        return new IllegalArgumentException("the parents of " + IdText.id(again) + " lead back to it, by "
                + IdText.path(ids.subList(ids.indexOf(again), ids.size())) + IdText.id(again)
                + ": an id in a tree must not be its own ancestor");
    }
}
