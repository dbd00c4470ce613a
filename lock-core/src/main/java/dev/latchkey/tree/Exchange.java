package dev.latchkey.tree;

import dev.latchkey.Key;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.BatchStore;
import dev.latchkey.spi.IndexStore;
import dev.latchkey.spi.IndexedBatchStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.StateCheck;
import dev.latchkey.spi.StateIndex;
import dev.latchkey.spi.StateRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What an editor asks of the store: batches, and whether it knows enough of what it takes. Where holds and indexes live
 * together that is one question; else it is asked after the grant, when nobody can change the answer any more, and what was
 * taken is given back if it was too early.
 */
final class Exchange {

    private final BatchStore batches;
    private final Optional<IndexedBatchStore> indexed;
    private final Optional<IndexStore> indexes;
    private final StateRule rule;

    /**
     * Finds out what the store can do.
     *
     * @param indexes empty: the state rule is off
     */
    Exchange(PersistingStore store, Optional<IndexStore> indexes, StateRule rule) {
        this.batches = store.capability(BatchStore.class).orElseGet(() -> new OrderedBatch(store));
        this.indexed = store.capability(IndexedBatchStore.class)
                .filter(one -> indexes.filter(given -> given == one).isPresent());
        this.indexes = indexes;
        this.rule = rule;
    }

    BatchAttempt take(List<Request> requests, long known) {
        StateCheck check = new StateCheck(known, rule);
        BatchAttempt attempt;
        try {
            attempt = indexed.isPresent() ? indexed.get().saveAll(requests, check) : batches.saveAll(requests);
        } catch (IllegalArgumentException e) {
            throw e;
        } catch (RuntimeException e) {
            Taken.undo(batches, requests.stream().map(Taken::inDoubt).toList(), e);
            throw e;
        }
        boolean isChecked = indexed.isPresent() || indexes.isEmpty();
        return isChecked || !(attempt instanceof BatchAttempt.Granted granted)
                ? attempt
                : checked(requests, granted, check, indexes.get());
    }

    private BatchAttempt checked(
            List<Request> requests, BatchAttempt.Granted granted, StateCheck check, IndexStore store) {
        List<Taken> taken = taken(requests, granted);
        Map<String, Long> stale;
        try {
            stale = check.stale(
                    requests,
                    store.indexes(requests.stream()
                            .map(request -> request.key().resource())
                            .toList()));
        } catch (RuntimeException e) {
            Taken.undo(batches, taken, e);
            throw e;
        }
        if (stale.isEmpty()) {
            return granted;
        }
        Taken.undo(batches, taken, null);
        return new BatchAttempt.Stale(stale);
    }

    static List<Taken> taken(List<Request> requests, BatchAttempt.Granted granted) {
        List<Taken> taken = new ArrayList<>();
        for (int i = 0; i < requests.size(); i++) {
            taken.add(Taken.granted(requests.get(i), granted.grants().get(i)));
        }
        return taken;
    }

    BatchAttempt renew(List<Request> requests) {
        return batches.saveAll(requests);
    }

    int giveUp(List<Key> keys) {
        return batches.deleteAll(keys);
    }

    /** Both are tried, also if the first fails. */
    BatchAttempt giveBack(List<Key> fresh, List<Request> demotions) {
        try {
            if (!fresh.isEmpty()) {
                batches.deleteAll(fresh);
            }
        } catch (RuntimeException e) {
            try {
                demote(demotions);
            } catch (RuntimeException second) {
                e.addSuppressed(second);
            }
            throw e;
        }
        return demote(demotions);
    }

    private BatchAttempt demote(List<Request> demotions) {
        return demotions.isEmpty() ? new BatchAttempt.Granted(List.of()) : batches.saveAll(demotions);
    }

    void record(Map<String, StateIndex> raised) {
        indexes.ifPresent(store -> store.raise(raised));
    }
}
