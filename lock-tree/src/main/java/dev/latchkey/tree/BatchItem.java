package dev.latchkey.tree;

import dev.latchkey.Key;
import dev.latchkey.LockMode;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.BatchStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * One request of a batch, with its outcome.
 *
 * @param grant empty if the store did not answer
 */
record BatchItem(Request request, Optional<Response.Granted> grant) {

    static BatchItem granted(Request request, Response.Granted granted) {
        return new BatchItem(request, Optional.of(granted));
    }

    /** A request that the store may have granted without an answer. */
    static BatchItem inDoubt(Request request) {
        return new BatchItem(request, Optional.empty());
    }

    /** Returns the key with the hold that was granted. */
    Key key() {
        OptionalLong fencingToken = grant.map(Response.Granted::fencingToken).orElse(OptionalLong.empty());
        return request.key().claiming(Optional.of(new Key.Held(request.mode(), fencingToken)));
    }

    private boolean isFresh() {
        return request.key().held().isEmpty();
    }

    private boolean isPromoted() {
        return promotes(request);
    }

    static boolean promotes(Request request) {
        return request.mode() == LockMode.EXCLUSIVE
                && request.key()
                        .held()
                        .filter(held -> held.mode() == LockMode.SHARED)
                        .isPresent();
    }

    /**
     * Releases what was not held before, and demotes what was promoted. A promotion without an answer is left: its holder
     * counts it as shared, and the next request for it finds out.
     *
     * @param cause the reason, to which failures are added as suppressed exceptions; null if there is none
     * @throws dev.latchkey.LockStorageException if the store failed and there is no cause
     */
    static void undo(BatchStore store, UnansweredDemotions demotions, List<BatchItem> all, @Nullable Throwable cause) {
        Runnable delete = () -> deleteFresh(store, all);
        Runnable demote = () -> demotePromoted(store, demotions, all);
        if (cause == null) {
            try {
                delete.run();
            } finally {
                demote.run();
            }
            return;
        }
        for (Runnable step : List.of(delete, demote)) {
            try {
                step.run();
            } catch (RuntimeException | Error e) {
                if (e != cause) {
                    cause.addSuppressed(e);
                }
            }
        }
    }

    private static void deleteFresh(BatchStore store, List<BatchItem> all) {
        List<Key> fresh =
                all.stream().filter(BatchItem::isFresh).map(BatchItem::key).toList();
        if (!fresh.isEmpty()) {
            store.deleteAll(fresh);
        }
    }

    private static void demotePromoted(BatchStore store, UnansweredDemotions demotions, List<BatchItem> all) {
        List<Request> promoted = all.stream()
                .filter(taken -> taken.isPromoted() && taken.grant.isPresent())
                .map(UnansweredDemotions::of)
                .toList();
        if (!promoted.isEmpty()) {
            BatchAttempt unused = demotions.send(store, promoted);
        }
    }
}
