package dev.latchkey.multi;

import dev.latchkey.Key;
import dev.latchkey.LockStorageException;
import dev.latchkey.spi.BatchAttempt;
import dev.latchkey.spi.BatchStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Acquires several resources or none, without waiting: in one request where the store takes batches. Else one after the other
 * in the order of their names, which is the same for all callers, and gives everything back when one of them is refused or
 * fails. Of callers that collide, the one that came furthest goes on.
 */
final class AllOrNone {

    private final PersistingStore store;

    /** Empty as soon as it has refused these resources, as a cluster does that keeps them on several servers. */
    private volatile Optional<BatchStore> batches;

    AllOrNone(PersistingStore store) {
        this.store = store;
        this.batches = store.capability(BatchStore.class);
    }

    /**
     * Acquires or renews all, or nothing.
     *
     * @param requests one for each resource, in the order of their names
     */
    BatchAttempt save(List<Request> requests) {
        Optional<BatchStore> batch = batches;
        if (batch.isEmpty()) {
            return saveInOrder(requests);
        }
        try {
            return batch.get().saveAll(requests);
        } catch (IllegalArgumentException e) {
            batches = Optional.empty();
            return saveInOrder(requests);
        } catch (RuntimeException | Error e) {
            giveBack(isUndone(e) ? List.of() : requests, e);
            throw e;
        }
    }

    private BatchAttempt saveInOrder(List<Request> requests) {
        List<Response.Granted> grants = new ArrayList<>();
        for (Request request : requests) {
            List<Request> before = requests.subList(0, grants.size());
            Response response;
            try {
                response = store.save(request);
            } catch (RuntimeException | Error e) {
                giveBack(isUndone(e) ? before : requests.subList(0, grants.size() + 1), e);
                throw e;
            }
            if (!(response instanceof Response.Granted granted)) {
                int unused = delete(fresh(before));
                return refusal(request, response);
            }
            grants.add(granted);
        }
        return new BatchAttempt.Granted(grants);
    }

    private static BatchAttempt refusal(Request request, Response response) {
        String resource = request.key().resource();
        if (response instanceof Response.Lost lost) {
            return new BatchAttempt.Lost(Map.of(resource, lost.reason()));
        }
        Response.Conflicted conflict =
                response instanceof Response.Conflicted conflicted ? conflicted : Response.Conflicted.NO_HINT;
        return new BatchAttempt.Conflicted(Set.of(resource), conflict.retryAfter(), conflict.isRecalled());
    }

    /** What was held before the request stays. */
    private void giveBack(List<Request> taken, Throwable cause) {
        try {
            int unused = delete(fresh(taken));
        } catch (RuntimeException e) {
            if (e != cause) {
                cause.addSuppressed(e);
            }
        }
    }

    private static List<Key> fresh(List<Request> taken) {
        return taken.stream()
                .map(Request::key)
                .filter(key -> key.held().isEmpty())
                .toList();
    }

    /** Releases all; returns how many were held until now. */
    int delete(List<Key> keys) {
        Optional<BatchStore> batch = batches;
        if (batch.isPresent()) {
            try {
                return batch.get().deleteAll(keys);
            } catch (IllegalArgumentException e) {
                batches = Optional.empty();
            }
        }
        return deleteEach(keys);
    }

    /** Also after a failure: the parts may be kept by different servers. */
    private int deleteEach(List<Key> keys) {
        int held = 0;
        List<RuntimeException> failures = new ArrayList<>();
        for (Key key : keys) {
            try {
                held += store.delete(key) ? 1 : 0;
            } catch (RuntimeException e) {
                failures.add(e);
            }
        }
        if (failures.isEmpty()) {
            return held;
        }
        RuntimeException first = failures.get(0);
        failures.stream().filter(other -> other != first).forEach(first::addSuppressed);
        throw first;
    }

    /** Whether a request that failed has had no effect, and never will. */
    static boolean isUndone(Throwable failure) {
        return failure instanceof IllegalArgumentException
                || (failure instanceof LockStorageException storage
                        && storage.failure() != LockStorageException.Failure.IN_DOUBT);
    }
}
