package dev.latchkey.tree;

import dev.latchkey.Key;
import dev.latchkey.spi.RefreshResult;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.spi.RetryIntent;
import java.util.List;

/**
 * The renewal of everything that one editor holds.
 *
 * @param owner has the keys
 * @param request of the editor's Lock
 * @param since the {@link System#nanoTime()} at which the lease starts
 * @param keys what was held when the renewal began
 */
record EditorRenewal(EditorKeys owner, Request request, long since, List<Key> keys) {

    /** Returns one request for each key, in the same order. */
    List<Request> requests() {
        return keys.stream()
                .map(key -> new Request(
                        key,
                        EditorKeys.mode(key),
                        request.ttl(),
                        RetryIntent.ONCE,
                        request.leaseChange(),
                        request.owner()))
                .toList();
    }

    Response settle(List<RefreshResult> results) {
        return owner.settle(this, results);
    }
}
