package dev.latchkey.fuzz;

import dev.latchkey.LockMode;
import dev.latchkey.tree.TreeGlimpse;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What an editor's locks let it change and rely on, as it takes the tree to be. */
final class Claims {

    private final TreeGlimpse glimpse;
    private final View view;

    /** All changes of what it may change; the older rule, and none, tell only of some. */
    private final boolean mustKnow;

    private final boolean[] mayChange;
    private final boolean[] mayRelyOn;
    private long judgedChanges = -1;
    private int judgedVersion = -1;

    Claims(TreeGlimpse glimpse, View view, boolean mustKnow) {
        this.glimpse = glimpse;
        this.view = view;
        this.mustKnow = mustKnow;
        this.mayChange = new boolean[view.size()];
        this.mayRelyOn = new boolean[view.size()];
    }

    /** Looks again if anything has changed; tells what it must not claim. */
    Optional<String> problem() {
        if (judgedChanges == glimpse.changes() && judgedVersion == view.version()) {
            return Optional.empty();
        }
        judgedChanges = glimpse.changes();
        judgedVersion = view.version();
        @Nullable String problem = null;
        for (int i = 0; i < mayChange.length; i++) {
            String id = "n" + i;
            mayChange[i] = glimpse.mayChange(id);
            mayRelyOn[i] = glimpse.mayRelyOn(id);
            @Nullable String found = problem(id, mayChange[i]);
            problem = problem == null ? found : problem;
        }
        return Optional.ofNullable(problem);
    }

    private @Nullable String problem(String id, boolean isMine) {
        if (glimpse.mode(id).isPresent()) {
            for (String parent : view.parents(id)) {
                if (glimpse.mode(parent).isEmpty() && !isBelowExclusive(parent)) {
                    return "it holds " + id + ", and neither holds " + parent + " above it nor covers that";
                }
            }
        }
        History.Push unseen = isMine && mustKnow ? view.unseen(id) : null;
        return unseen == null ? null : "it may change " + id + ", and has not seen change " + unseen.number();
    }

    private boolean isBelowExclusive(String id) {
        return view.parents(id).stream()
                .anyMatch(parent ->
                        glimpse.mode(parent).filter(LockMode.EXCLUSIVE::equals).isPresent()
                                || isBelowExclusive(parent));
    }

    boolean mayChange(int id) {
        return mayChange[id];
    }

    boolean mayRelyOn(int id) {
        return mayRelyOn[id];
    }
}
