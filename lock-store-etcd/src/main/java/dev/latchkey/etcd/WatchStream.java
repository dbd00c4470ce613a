package dev.latchkey.etcd;

import io.etcd.jetcd.api.WatchCancelRequest;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One stream to one server, which numbers watches in the order in which they are asked for. */
final class WatchStream implements StreamObserver<WatchResponse> {

    /** How long a watch stays that nobody waits for: with two who take turns, that is so every other moment. */
    private static final long LINGER_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final int server;
    private @Nullable StreamObserver<WatchRequest> requests;
    private final Map<KeyRange, DeletionWatch> watches = new HashMap<>();
    private final Queue<DeletionWatch> unnumbered = new ArrayDeque<>();
    private final Map<Long, DeletionWatch> numbered = new HashMap<>();
    private boolean isOver;

    WatchStream(int server) {
        this.server = server;
    }

    synchronized void begin(StreamObserver<WatchRequest> to) {
        requests = to;
    }

    int server() {
        return server;
    }

    synchronized boolean isOver() {
        return isOver;
    }

    /** Waits for what is deleted in a part of what is watched. */
    synchronized DeletionWatch.Waiter start(KeyRange all, KeyRange range, OptionalLong since) {
        DeletionWatch watch = watches.get(all);
        if (watch == null) {
            watch = new DeletionWatch(all);
            if (isOver) {
                watch.over();
            } else {
                watches.put(all, watch);
                unnumbered.add(watch);
                send(WatchRequest.newBuilder().setCreateRequest(request(all)).build());
                endIfUnusedLater(watch);
            }
        }
        return watch.start(range, since);
    }

    /** A watch of what will be is told at once; one from an earlier revision on only within a tenth of a second. */
    private static WatchCreateRequest.Builder request(KeyRange all) {
        return WatchCreateRequest.newBuilder()
                .setKey(all.from())
                .setRangeEnd(all.to())
                .addFilters(WatchCreateRequest.FilterType.NOPUT);
    }

    private void send(WatchRequest request) {
        StreamObserver<WatchRequest> to = requests;
        if (to != null && !isOver) {
            to.onNext(request);
        }
    }

    private void endIfUnusedLater(DeletionWatch watch) {
        // On the thread of the JDK that keeps the time: there is nothing to wait for, and no thread is started each
        // second.
        CompletableFuture.delayedExecutor(LINGER_NANOS, TimeUnit.NANOSECONDS, Runnable::run)
                .execute(() -> endIfUnused(watch));
    }

    private synchronized void endIfUnused(DeletionWatch watch) {
        if (isOver || watches.get(watch.all()) != watch) {
            return;
        }
        OptionalLong id = watch.id();
        if (id.isEmpty() || watch.unusedNanos() < LINGER_NANOS) {
            endIfUnusedLater(watch);
            return;
        }
        watches.remove(watch.all());
        numbered.remove(id.getAsLong());
        send(WatchRequest.newBuilder()
                .setCancelRequest(WatchCancelRequest.newBuilder().setWatchId(id.getAsLong()))
                .build());
    }

    @Override
    public void onNext(WatchResponse response) {
        DeletionWatch watch = watch(response);
        if (watch == null) {
            return;
        }
        watch.tell(response.getEventsList());
        if (response.getCanceled()) {
            watch.over();
            if (response.getCompactRevision() == 0) {
                // For instance since its token has ended: another stream has another one.
                end();
            }
        }
    }

    /** What comes while it is being ended, or for a watch that was ended, is nobody's. */
    private synchronized @Nullable DeletionWatch watch(WatchResponse response) {
        if (isOver) {
            return null;
        }
        long id = response.getWatchId();
        DeletionWatch watch = response.getCreated() ? unnumbered.remove() : numbered.get(id);
        if (watch != null && response.getCanceled()) {
            numbered.remove(id);
            watches.remove(watch.all(), watch);
        } else if (watch != null && response.getCreated()) {
            numbered.put(id, watch);
            watch.begin(id, response.getHeader().getRevision());
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
        List<DeletionWatch> all;
        synchronized (this) {
            isOver = true;
            all = new ArrayList<>(watches.values());
            watches.clear();
            numbered.clear();
            unnumbered.clear();
        }
        all.forEach(DeletionWatch::over);
    }

    /** Cancels it: a server watches on for a client that only says that it sends no more. */
    synchronized void end() {
        StreamObserver<WatchRequest> to = requests;
        if (!isOver && to != null) {
            to.onError(
                    Status.CANCELLED.withDescription("another stream is used").asException());
        }
        over();
    }
}
