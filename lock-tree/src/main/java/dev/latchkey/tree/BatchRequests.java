package dev.latchkey.tree;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
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
import java.util.concurrent.ConcurrentHashMap;

/**
 * What an editor asks of the store: batches, and whether it knows enough of what it takes. Where holds and indexes live
 * together that is one question; else it is asked after the grant, when nobody can change the answer any more, and what was
 * taken is given back if it was too early.
 */
final class BatchRequests {

    private final BatchStore batches;
    private final Optional<IndexedBatchStore> indexed;
    private final Optional<IndexStore> indexes;
    private final StateRule rule;
    private final UnansweredDemotions demotions = new UnansweredDemotions();

    /** Promotions that were not answered: the editor believes in what it shares. */
    private final Map<String, Request> doubtful = new ConcurrentHashMap<>();

    /**
     * Finds out what the store can do.
     *
     * @param indexes empty: the state rule is off
     */
    BatchRequests(PersistingStore store, Optional<IndexStore> indexes, StateRule rule) {
        this.batches = store.capability(BatchStore.class).orElseGet(() -> new SequentialBatchStore(store, demotions));
        this.indexed = store.capability(IndexedBatchStore.class)
                .filter(one -> indexes.filter(given -> given == one).isPresent());
        this.indexes = indexes;
        this.rule = rule;
    }

    /** What was put back to shared without an answer is asked about again first: it must not be promoted before it is. */
    BatchAttempt take(List<Request> requests, long known) {
        settle();
        StateCheck check = new StateCheck(known, rule);
        BatchAttempt attempt;
        try {
            attempt = indexed.isPresent() ? indexed.get().saveAll(requests, check) : batches.saveAll(requests);
        } catch (IllegalArgumentException e) {
            throw e;
        } catch (RuntimeException | Error e) {
            BatchItem.undo(
                    batches,
                    demotions,
                    requests.stream().map(BatchItem::inDoubt).toList(),
                    e);
            requests.stream()
                    .filter(BatchItem::promotes)
                    .forEach(request -> doubtful.put(request.key().resource(), request));
            throw e;
        }
        requests.forEach(request -> doubtful.remove(request.key().resource()));
        boolean isChecked = indexed.isPresent() || indexes.isEmpty();
        return isChecked || !(attempt instanceof BatchAttempt.Granted granted)
                ? attempt
                : checked(requests, granted, check, indexes.get());
    }

    private BatchAttempt checked(
            List<Request> requests, BatchAttempt.Granted granted, StateCheck check, IndexStore store) {
        List<BatchItem> taken = taken(requests, granted);
        Map<String, Long> stale;
        try {
            stale = check.stale(
                    requests,
                    store.indexes(requests.stream()
                            .map(request -> request.key().resource())
                            .toList()));
        } catch (RuntimeException | Error e) {
            BatchItem.undo(batches, demotions, taken, e);
            throw e;
        }
        if (stale.isEmpty()) {
            return granted;
        }
        BatchItem.undo(batches, demotions, taken, null);
        return new BatchAttempt.Stale(stale);
    }

    static List<BatchItem> taken(List<Request> requests, BatchAttempt.Granted granted) {
        List<BatchItem> taken = new ArrayList<>();
        for (int i = 0; i < requests.size(); i++) {
            taken.add(BatchItem.granted(requests.get(i), granted.grants().get(i)));
        }
        return taken;
    }

    /** Asks again about what was put back to shared without an answer. */
    void settle() {
        demotions.settle(batches);
    }

    /** Puts back to shared what the store may have exclusively, and the editor does not believe in. */
    void tidy(PersistingStore store) {
        settle();
        for (Request promotion : List.copyOf(doubtful.values())) {
            store.find(promotion.key())
                    .filter(found -> found.mode() == LockMode.EXCLUSIVE)
                    .ifPresent(found -> demotions.send(
                            batches, List.of(UnansweredDemotions.of(BatchItem.granted(promotion, found)))));
        }
    }

    /** All that is held is given up. */
    int giveUp(List<Key> keys) {
        demotions.forget();
        doubtful.clear();
        return keys.isEmpty() ? 0 : batches.deleteAll(keys);
    }

    /** Both are tried, also if the first fails. */
    BatchAttempt giveBack(List<Key> fresh, List<Request> promoted) {
        try {
            if (!fresh.isEmpty()) {
                batches.deleteAll(fresh);
            }
        } catch (RuntimeException e) {
            try {
                demote(promoted);
            } catch (RuntimeException second) {
                e.addSuppressed(second);
            }
            throw e;
        }
        return demote(promoted);
    }

    /** Puts back to shared what the requests claim to hold exclusively. */
    BatchAttempt demote(List<Request> promoted) {
        return promoted.isEmpty() ? new BatchAttempt.Granted(List.of()) : demotions.send(batches, promoted);
    }

    void record(Map<String, StateIndex> raised) {
        indexes.ifPresent(store -> store.raise(raised));
    }
}
