package dev.latchkey.tree;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Acquires what an editor does not hold yet, and adds it to its {@link EditorHold}. In the turn. */
final class BatchAcquirer {

    private final TreeResources ids;
    private final BatchRequests requests;
    private final EditorHold editorHold;

    BatchAcquirer(TreeResources ids, BatchRequests requests, EditorHold editorHold) {
        this.ids = ids;
        this.requests = requests;
        this.editorHold = editorHold;
    }

    /**
     * Acquires everything or nothing. Sends no request to the store if nothing is missing.
     *
     * @param missing the modes by id
     * @param known the last change that the editor knows
     * @return a grant or a conflict; other refusals are thrown
     */
    BatchAttempt acquire(Map<String, LockMode> missing, long known) {
        List<Request> wanted = wanted(missing);
        if (wanted.isEmpty()) {
            return new BatchAttempt.Granted(List.of());
        }
        editorHold.acquiringBegins();
        try {
            return settled(wanted, requests.acquire(wanted, known), known);
        } finally {
            editorHold.acquiringEnds();
        }
    }

    private BatchAttempt settled(List<Request> wanted, BatchAttempt attempt, long known) {
        if (attempt instanceof BatchAttempt.Granted granted) {
            editorHold.add(wanted, granted);
        } else if (attempt instanceof BatchAttempt.Stale stale) {
            throw ids.pullRequired(known, stale);
        } else if (attempt instanceof BatchAttempt.Lost gone) {
            throw editorHold.lost("it was no longer held when more was locked", gone);
        }
        return attempt;
    }

    private List<Request> wanted(Map<String, LockMode> missing) {
        Map<String, Key> held = editorHold.keys();
        List<Request> wanted = new ArrayList<>();
        missing.forEach((id, mode) -> {
            Key own = held.get(ids.resource(id));
            wanted.add(editorHold.request(own == null ? Key.of(ids.resource(id)) : own, mode));
        });
        return wanted;
    }
}
