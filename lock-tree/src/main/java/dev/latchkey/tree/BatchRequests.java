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
 * Sends the batches of one editor to the store, and checks that the editor knows the last changes of what it acquires. If holds
 * and indexes are in the same store, that is one request. Otherwise the indexes are read after the grant, when nobody can
 * change them any more, and the grant is given back if the editor has to pull.
 */
final class BatchRequests {

    private final BatchStore batches;
    private final Optional<IndexedBatchStore> indexed;
    private final Optional<IndexStore> indexes;
    private final StateRule rule;
    private final UnansweredDemotions demotions = new UnansweredDemotions();

    /** Promotions that were not answered: the editor counts them as shared. */
    private final Map<String, Request> unansweredPromotions = new ConcurrentHashMap<>();

    /**
     * Looks up the capabilities of the store.
     *
     * @param indexes empty to switch the state rule off
     */
    BatchRequests(PersistingStore store, Optional<IndexStore> indexes, StateRule rule) {
        this.batches = store.capability(BatchStore.class).orElseGet(() -> new SequentialBatchStore(store, demotions));
        this.indexed = store.capability(IndexedBatchStore.class)
                .filter(one -> indexes.filter(given -> given == one).isPresent());
        this.indexes = indexes;
        this.rule = rule;
    }

    /** Acquires everything or nothing. Demotions that were not answered are repeated before: nothing is promoted until then. */
    BatchAttempt acquire(List<Request> requests, long known) {
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
                    .forEach(request -> unansweredPromotions.put(request.key().resource(), request));
            throw e;
        }
        if (!(attempt instanceof BatchAttempt.Granted granted)) {
            // A refusal changes nothing: what was promoted without an answer still is.
            return attempt;
        }
        requests.forEach(request -> unansweredPromotions.remove(request.key().resource()));
        return indexed.isPresent() || indexes.isEmpty() ? granted : checked(requests, granted, check, indexes.get());
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

    /** Repeats the demotions that were not answered. */
    void settle() {
        demotions.settle(batches);
    }

    /** Whether there is nothing for {@link #tidy} to do. */
    boolean isTidy() {
        return demotions.isEmpty() && unansweredPromotions.isEmpty();
    }

    /** Demotes what the store may hold exclusively for this editor, which counts it as shared. */
    void tidy(PersistingStore store) {
        settle();
        for (Request promotion : List.copyOf(unansweredPromotions.values())) {
            store.find(promotion.key())
                    .filter(found -> found.mode() == LockMode.EXCLUSIVE)
                    .ifPresent(found -> demotions.send(
                            batches, List.of(UnansweredDemotions.of(BatchItem.granted(promotion, found)))));
        }
    }

    /** Releases everything that is held. */
    int releaseAll(List<Key> keys) {
        demotions.forget();
        unansweredPromotions.clear();
        return keys.isEmpty() ? 0 : batches.deleteAll(keys);
    }

    /** Releases and demotes. Both are tried, even if the first fails. */
    BatchAttempt release(List<Key> fresh, List<Request> promoted) {
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

    /** Demotes what the requests claim to hold exclusively. */
    BatchAttempt demote(List<Request> promoted) {
        return promoted.isEmpty() ? new BatchAttempt.Granted(List.of()) : demotions.send(batches, promoted);
    }

    void record(Map<String, StateIndex> raised) {
        indexes.ifPresent(store -> store.raise(raised));
    }
}
