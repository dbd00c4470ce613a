package dev.latchkey.etcd;

import io.etcd.jetcd.api.WatchCancelRequest;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchGrpc;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Waits for the deletion of keys: all waiters of the store over one stream, and no thread for any of them. */
final class Watches {

    private final Calls calls;
    private @Nullable Stream stream;

    Watches(Calls calls) {
        this.calls = calls;
    }

    /**
     * One waiter's. Completes when something was deleted in the range, or when this can no longer be known: the events were
     * compacted, or the stream has ended. Then the waiter looks.
     */
    static final class Watch {

        private final CompletableFuture<Boolean> done = new CompletableFuture<>();
        private final CompletableFuture<Long> begun = new CompletableFuture<>();
        private volatile @Nullable Long id;

        /** True for a deletion. */
        CompletableFuture<Boolean> done() {
            return done;
        }

        /** Completes when the server has begun, with its revision: a watch of what will be tells all that is deleted later. */
        CompletableFuture<Long> begun() {
            return begun;
        }
    }

    /** Watches what will be: such a watch is told at once, one from an earlier revision on within a tenth of a second. */
    Watch start(String resource, KeyRange range) {
        return start(resource, range, 0);
    }

    /** Watches from a revision on, so that nothing is missed since the waiter has looked. */
    Watch start(String resource, KeyRange range, long revision) {
        // Before the monitor: a token may have to be waited for, and those who watch already have theirs.
        return start(resource, range, revision, calls.streamHeaders(resource));
    }

    private synchronized Watch start(String resource, KeyRange range, long revision, Metadata headers) {
        Stream now = stream;
        if (now == null || now.isOver || now.server != calls.server()) {
            if (now != null) {
                now.end();
            }
            now = new Stream(calls.server());
            now.requests = calls.stream(resource, WatchGrpc.getWatchMethod(), now, now.server, headers);
            stream = now;
        }
        return now.start(WatchCreateRequest.newBuilder()
                .setKey(range.from())
                .setRangeEnd(range.to())
                .setStartRevision(revision)
                .addFilters(WatchCreateRequest.FilterType.NOPUT)
                .build());
    }

    synchronized void stop(Watch watch) {
        Stream now = stream;
        if (now != null) {
            now.stop(watch);
        }
    }

    synchronized void close() {
        Stream now = stream;
        if (now != null) {
            now.end();
        }
    }

    /** One stream to one server, which numbers watches in the order in which they are asked for. */
    private static final class Stream implements StreamObserver<WatchResponse> {

        private final int server;
        private @Nullable StreamObserver<WatchRequest> requests;
        private final Queue<Watch> unnumbered = new ArrayDeque<>();
        private final Map<Long, Watch> numbered = new HashMap<>();
        private volatile boolean isOver;

        Stream(int server) {
            this.server = server;
        }

        synchronized Watch start(WatchCreateRequest request) {
            Watch watch = new Watch();
            if (isOver) {
                watch.done.complete(false);
                return watch;
            }
            unnumbered.add(watch);
            send(WatchRequest.newBuilder().setCreateRequest(request).build());
            return watch;
        }

        /**
         * One without a number yet is left to be, until it is numbered. One of an earlier stream has a number that may be
         * another's here.
         */
        synchronized void stop(Watch watch) {
            watch.done.complete(false);
            Long id = watch.id;
            if (id != null && numbered.remove(id, watch)) {
                cancel(id);
            }
        }

        private void cancel(long id) {
            if (!isOver) {
                send(WatchRequest.newBuilder()
                        .setCancelRequest(WatchCancelRequest.newBuilder().setWatchId(id))
                        .build());
            }
        }

        private void send(WatchRequest request) {
            StreamObserver<WatchRequest> to = requests;
            if (to != null) {
                to.onNext(request);
            }
        }

        @Override
        public void onNext(WatchResponse response) {
            Watch watch;
            synchronized (this) {
                // What comes while it is being ended is nobody's.
                watch = isOver ? null : watch(response);
            }
            if (watch != null && (response.getCanceled() || response.getEventsCount() > 0)) {
                watch.done.complete(!response.getCanceled());
            }
            if (watch != null && response.getCanceled() && response.getCompactRevision() == 0) {
                // For instance since its token has ended: another stream has another one.
                end();
            }
        }

        private @Nullable Watch watch(WatchResponse response) {
            long id = response.getWatchId();
            if (!response.getCreated()) {
                return response.getCanceled() ? numbered.remove(id) : numbered.get(id);
            }
            Watch watch = unnumbered.remove();
            if (response.getCanceled()) {
                return watch;
            }
            watch.id = id;
            watch.begun.complete(response.getHeader().getRevision());
            if (watch.done.isDone()) {
                cancel(id);
            } else {
                numbered.put(id, watch);
            }
            return watch;
        }

        @Override
        public void onError(Throwable failure) {
            over();
        }

        @Override
        public void onCompleted() {
            over();
        }

        private void over() {
            List<Watch> all;
            synchronized (this) {
                isOver = true;
                all = new ArrayList<>(numbered.values());
                all.addAll(unnumbered);
                numbered.clear();
                unnumbered.clear();
            }
            all.forEach(watch -> watch.done.complete(false));
        }

        /** Cancels it: a server watches on for a client that only says that it sends no more. */
        synchronized void end() {
            StreamObserver<WatchRequest> to = requests;
            if (!isOver && to != null) {
                to.onError(Status.CANCELLED
                        .withDescription("another stream is used")
                        .asException());
            }
            over();
        }
    }
}
