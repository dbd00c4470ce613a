package dev.latchkey.etcd;

import io.etcd.jetcd.api.WatchGrpc;
import io.grpc.Metadata;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Has a server tell of deleted keys: one watch for each resource that somebody in this store waits for, all over one stream, and
 * no thread for any of them.
 */
final class Watches {

    private final Calls calls;
    private @Nullable WatchStream stream;

    Watches(Calls calls) {
        this.calls = calls;
    }

    /**
     * Begins to wait for a deletion.
     *
     * @param all the keys of the resource
     * @param range which of them are waited for
     * @param since the revision from which on a deletion counts; empty for one that comes from now on
     */
    DeletionWatch.Waiter start(String resource, KeyRange all, KeyRange range, OptionalLong since) {
        // Before the monitor: a token may have to be waited for, and those who watch already have theirs.
        return start(resource, all, range, since, calls.streamHeaders(resource));
    }

    private synchronized DeletionWatch.Waiter start(
            String resource, KeyRange all, KeyRange range, OptionalLong since, Metadata headers) {
        WatchStream now = stream;
        if (now == null || now.isOver() || now.server() != calls.server()) {
            if (now != null) {
                now.end();
            }
            now = new WatchStream(calls.server());
            now.begin(calls.stream(resource, WatchGrpc.getWatchMethod(), now, now.server(), headers));
            stream = now;
        }
        return now.start(all, range, since);
    }

    synchronized void close() {
        WatchStream now = stream;
        if (now != null) {
            now.end();
        }
    }
}
