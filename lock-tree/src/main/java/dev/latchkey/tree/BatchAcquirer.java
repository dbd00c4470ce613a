package dev.latchkey.tree;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Takes what an editor has not yet, and puts what was granted into its {@link EditorHold}. Inside the turn. */
final class BatchAcquirer {

    private final TreeResources ids;
    private final BatchRequests exchange;
    private final EditorHold editorHold;

    BatchAcquirer(TreeResources ids, BatchRequests exchange, EditorHold editorHold) {
        this.ids = ids;
        this.exchange = exchange;
        this.editorHold = editorHold;
    }

    /**
     * Takes all or nothing; without anything to take the store is not asked.
     *
     * @param missing by id
     * @param known the last change the editor knows
     * @return granted or a conflict: other refusals are thrown
     */
    BatchAttempt take(Map<String, LockMode> missing, long known) {
        List<Request> requests = requests(missing);
        if (requests.isEmpty()) {
            return new BatchAttempt.Granted(List.of());
        }
        editorHold.takingBegins();
        try {
            return taken(requests, exchange.take(requests, known), known);
        } finally {
            editorHold.takingEnds();
        }
    }

    private BatchAttempt taken(List<Request> requests, BatchAttempt attempt, long known) {
        if (attempt instanceof BatchAttempt.Granted granted) {
            editorHold.add(requests, granted);
        } else if (attempt instanceof BatchAttempt.Stale stale) {
            throw ids.pullRequired(known, stale);
        } else if (attempt instanceof BatchAttempt.Lost gone) {
            throw editorHold.lost("it was no longer held when more was locked", gone);
        }
        return attempt;
    }

    private List<Request> requests(Map<String, LockMode> missing) {
        Map<String, Key> held = editorHold.keys();
        List<Request> requests = new ArrayList<>();
        missing.forEach((id, mode) -> {
            Key own = held.get(ids.resource(id));
            requests.add(editorHold.request(own == null ? Key.of(ids.resource(id)) : own, mode));
        });
        return requests;
    }
}
