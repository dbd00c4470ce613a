package dev.latchkey.tree;

import dev.latchkey.LockMode;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.BatchStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.RetryIntent;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The demotions of an editor that were not answered. Such a demotion may still arrive after the same id was promoted again. It
 * claims the fencing token of the hold that it ends, so it has no effect on a later promotion. It is repeated before the next
 * promotion.
 */
final class UnansweredDemotions {

    private final Map<String, Request> unanswered = new ConcurrentHashMap<>();

    /** Demotes, and remembers what was not answered. */
    BatchAttempt send(BatchStore store, List<Request> demotions) {
        demotions.forEach(demotion -> unanswered.put(demotion.key().resource(), demotion));
        BatchAttempt attempt = store.saveAll(demotions);
        demotions.forEach(demotion -> unanswered.remove(demotion.key().resource(), demotion));
        return attempt;
    }

    /**
     * Repeats each demotion that was not answered. If it took effect before, that renews the shared hold. The answer "lost" means
     * that the hold is gone, which the next request for it reports.
     *
     * @throws dev.latchkey.LockStorageException if there is still no answer
     */
    void settle(BatchStore store) {
        for (Request demotion : List.copyOf(unanswered.values())) {
            BatchAttempt unused = send(store, List.of(demotion));
        }
    }

    /** Returns the demotion of something that the store holds exclusively and the editor counts as shared. */
    static Request of(BatchItem taken) {
        return new Request(taken.key(), LockMode.SHARED, taken.request().ttl(), RetryIntent.ONCE);
    }

    boolean isEmpty() {
        return unanswered.isEmpty();
    }

    /** Everything that was held was released. */
    void forget() {
        unanswered.clear();
    }
}
