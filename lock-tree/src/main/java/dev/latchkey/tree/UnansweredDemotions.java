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
 * What an editor has put back to shared without an answer. Such a demotion may still come, after the same was promoted again: it
 * claims the fencing token of the hold it ends, so that it does nothing to one that was promoted since, and is asked about
 * again before that.
 */
final class UnansweredDemotions {

    private final Map<String, Request> unanswered = new ConcurrentHashMap<>();

    /** Puts back to shared; remembers what was not answered. */
    BatchAttempt send(BatchStore store, List<Request> demotions) {
        demotions.forEach(demotion -> unanswered.put(demotion.key().resource(), demotion));
        BatchAttempt attempt = store.saveAll(demotions);
        demotions.forEach(demotion -> unanswered.remove(demotion.key().resource(), demotion));
        return attempt;
    }

    /**
     * Asks for each again that was not answered. One that had been made renews what it made; one that is answered as lost tells
     * that all of its hold is gone, as the next request for it does.
     *
     * @throws dev.latchkey.LockStorageException if there is no answer still
     */
    void settle(BatchStore store) {
        for (Request demotion : List.copyOf(unanswered.values())) {
            BatchAttempt unused = send(store, List.of(demotion));
        }
    }

    /** Asks for what the store has exclusively and the editor holds shared only. */
    static Request of(BatchItem taken) {
        return new Request(taken.key(), LockMode.SHARED, taken.request().ttl(), RetryIntent.ONCE);
    }

    /** All that was held has been given up. */
    void forget() {
        unanswered.clear();
    }
}
