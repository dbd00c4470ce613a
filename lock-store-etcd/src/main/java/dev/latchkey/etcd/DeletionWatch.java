package dev.latchkey.etcd;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.KeyValue;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Those in this store who wait for the deletion of keys of one resource, and what a server has told them last. It goes on from one
 * waiter to the next: a watch that begins while the cluster writes may be told nothing for a tenth of a second.
 */
final class DeletionWatch {

    /** More than happens between the answer to a look and the wait that follows it. */
    private static final int REMEMBERED = 1_000;

    private final KeyRange all;
    private final CompletableFuture<Void> begun = new CompletableFuture<>();
    private final Set<Waiter> waiters = new LinkedHashSet<>();
    private final Deque<Deletion> last = new ArrayDeque<>();
    private OptionalLong id = OptionalLong.empty();

    /** From this revision on all deletions are told, or were and are remembered. */
    private long completeFrom = Long.MAX_VALUE;

    /** When the last waiter went. */
    private long usedNanos = System.nanoTime();

    private boolean isOver;

    DeletionWatch(KeyRange all) {
        this.all = all;
    }

    private record Deletion(ByteString key, long revision) {}

    /**
     * One who waits. Completes when something was deleted in the range, or when this can no longer be known: the events were
     * compacted, or the stream has ended. Then the waiter looks.
     */
    final class Waiter {

        private final KeyRange range;
        private final OptionalLong since;
        private final CompletableFuture<Boolean> done = new CompletableFuture<>();

        private Waiter(KeyRange range, OptionalLong since) {
            this.range = range;
            this.since = since;
        }

        /** True for a deletion. */
        CompletableFuture<Boolean> done() {
            return done;
        }

        /** Completes when the server has begun: whatever is deleted later is told. */
        CompletableFuture<Void> begun() {
            return begun;
        }

        /** Whether nothing can have been deleted since then without this being told. */
        boolean missesNothing() {
            return isCompleteFrom(since);
        }

        void stop() {
            remove(this);
        }

        private boolean waitsFor(Deletion deletion) {
            return deletion.revision() >= since.orElse(0) && range.contains(deletion.key());
        }
    }

    KeyRange all() {
        return all;
    }

    synchronized OptionalLong id() {
        return id;
    }

    synchronized Waiter start(KeyRange range, OptionalLong since) {
        Waiter waiter = new Waiter(range, since);
        if (isOver) {
            waiter.done.complete(false);
        } else if (since.isPresent() && wasDeleted(waiter, since.getAsLong())) {
            waiter.done.complete(true);
        }
        waiters.add(waiter);
        return waiter;
    }

    private synchronized void remove(Waiter waiter) {
        waiters.remove(waiter);
        usedNanos = System.nanoTime();
    }

    /** How long nobody has waited here. */
    synchronized long unusedNanos() {
        return waiters.isEmpty() ? System.nanoTime() - usedNanos : 0;
    }

    /** Whether it was told that one of the keys was deleted since. */
    private boolean wasDeleted(Waiter waiter, long since) {
        Iterator<Deletion> newestFirst = last.descendingIterator();
        while (newestFirst.hasNext()) {
            Deletion deletion = newestFirst.next();
            if (deletion.revision() < since) {
                return false;
            }
            if (waiter.range.contains(deletion.key())) {
                return true;
            }
        }
        return false;
    }

    private synchronized boolean isCompleteFrom(OptionalLong since) {
        return since.isPresent() && since.getAsLong() >= completeFrom;
    }

    /** The server has begun, after a revision. */
    void begin(long number, long revision) {
        synchronized (this) {
            id = OptionalLong.of(number);
            completeFrom = revision + 1;
        }
        begun.complete(null);
    }

    void tell(List<Event> events) {
        List<Waiter> served = new ArrayList<>();
        synchronized (this) {
            for (Event event : events) {
                KeyValue key = event.getKv();
                Deletion deletion = new Deletion(key.getKey(), key.getModRevision());
                remember(deletion);
                waiters.stream().filter(waiter -> waiter.waitsFor(deletion)).forEach(served::add);
            }
        }
        served.forEach(waiter -> waiter.done.complete(true));
    }

    private void remember(Deletion deletion) {
        last.add(deletion);
        if (last.size() > REMEMBERED) {
            completeFrom = Math.max(completeFrom, last.remove().revision() + 1);
        }
    }

    /** Nothing is told any more. */
    void over() {
        List<Waiter> left;
        synchronized (this) {
            isOver = true;
            left = List.copyOf(waiters);
        }
        left.forEach(waiter -> waiter.done.complete(false));
    }
}
