package dev.latchkey.fuzz;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A tree as one editor knows it: what it has pulled and pushed, and its changes that are not pushed yet. */
final class View {

    private final History history;
    private final List<History.Change> local = new ArrayList<>();
    private final List<History.Push> own = new ArrayList<>();
    private Map<String, List<String>> tree;
    private int pulled;
    private int version;

    View(History history) {
        this.history = history;
        this.tree = history.first();
    }

    /** How many ids there are. */
    int size() {
        return history.size();
    }

    List<String> parents(String id) {
        return tree.getOrDefault(id, List.of());
    }

    /** Changes whenever the tree may have. */
    int version() {
        return version;
    }

    /** Whether what was pushed with this number has been seen. */
    boolean knows(History.Push push) {
        return push.number() <= pulled || push.author() == this;
    }

    boolean canPull() {
        return history.last() > pulled;
    }

    int pull() {
        pulled = history.last();
        change();
        return pulled;
    }

    void make(History.Change change) {
        local.add(change);
        change();
    }

    /** How many changes are not pushed. */
    int unpushed() {
        return local.size();
    }

    /** Takes back what was changed since there were so many. */
    void undoTo(int count) {
        if (count < local.size()) {
            local.subList(count, local.size()).clear();
            change();
        }
    }

    History.Push push() {
        History.Push push = history.begin(this, List.copyOf(local));
        own.add(push);
        local.clear();
        change();
        return push;
    }

    void pushed(History.Push push) {
        push.succeeds();
        if (push.number() == pulled + 1) {
            pulled++;
        }
        change();
    }

    void abandon(History.Push push) {
        push.fails();
        own.remove(push);
        change();
    }

    /** Whether an id is, or is below, another. */
    boolean isBelow(String id, String other) {
        return id.equals(other) || parents(id).stream().anyMatch(parent -> isBelow(parent, other));
    }

    /** Of those there are, the first that others have changed and this one has not seen. */
    History.@Nullable Push unseen(String id) {
        for (History.Push push : history.pushes()) {
            if (push.isMade()
                    && !knows(push)
                    && push.changes().stream().anyMatch(change -> change.id().equals(id))) {
                return push;
            }
        }
        return null;
    }

    private void change() {
        version++;
        Map<String, List<String>> now = new HashMap<>(history.first());
        for (History.Push push : history.pushes()) {
            if (push.number() <= pulled ? push.isMade() : own.contains(push)) {
                push.changes().forEach(change -> change.applyTo(now));
            }
        }
        local.forEach(change -> change.applyTo(now));
        tree = now;
    }
}
