package dev.latchkey.redis;

import dev.latchkey.LockStorageException;
import dev.latchkey.spi.KeptHolds;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * All waiters of one store, which passes messages on to them. Messages name the attempt, not the token, because the same key may
 * wait twice.
 *
 * <p>A grant to a waiter that ended without it is given back. A grant to one that ended with it is no news, and must not be
 * given back.
 *
 * <p>Threads of the driver call {@link #message}, {@link #askAgain} and {@link #disconnected}: these must not wait.
 */
final class WaiterRegistry {

    private static final int REMEMBERED_ENDED = 1_000;
    private static final int REMEMBERED_CONTENDED = 10_000;

    private final ScriptRunner server;
    private final String id;
    private final KeyNames names;
    private final ForcedReleases forced;
    private final KeptHolds kept;
    private final AtomicLong attempts = new AtomicLong();
    private final Map<String, Entry> waiting = new ConcurrentHashMap<>();
    private final Map<String, Waiter> ended = Collections.synchronizedMap(new RecentEntries<>(REMEMBERED_ENDED));
    private final Map<String, Boolean> contended =
            Collections.synchronizedMap(new RecentEntries<>(REMEMBERED_CONTENDED));
    private volatile boolean closed;

    /**
     * @param forced what is told of holds that were ended by force
     * @param kept what is told of holds that are recalled
     */
    WaiterRegistry(ScriptRunner server, String id, KeyNames names, ForcedReleases forced, KeptHolds kept) {
        this.server = server;
        this.id = id;
        this.names = names;
        this.forced = forced;
        this.kept = kept;
    }

    /** The last part of the channels that messages to this store arrive in. */
    String id() {
        return id;
    }

    /** Scripts return numbers, of which a double holds 15 digits. */
    static String newId() {
        return Long.toString(new SecureRandom().nextLong(100_000_000_000_000L, 1_000_000_000_000_000L));
    }

    String newAttempt() {
        return id + '.' + attempts.incrementAndGet();
    }

    /**
     * Passes messages on to a waiter until the entry is closed.
     *
     * @throws LockStorageException if the store is closed
     */
    Entry add(Waiter waiter) {
        Entry entry = new Entry(waiter);
        waiting.put(waiter.attempt(), entry);
        if (closed) {
            // Checked only now that close() would find this waiter.
            remove(entry);
            throw server.failures().closed(waiter.resource());
        }
        return entry;
    }

    /** A waiter that messages are passed on to. */
    final class Entry implements AutoCloseable {

        private final Waiter waiter;
        private final CountDownLatch left = new CountDownLatch(1);

        /** Set before it leaves: what is granted from then on may come too late for that to undo it. */
        private volatile boolean isLeaving;

        private Entry(Waiter waiter) {
            this.waiter = waiter;
        }

        /** Leaves the queue. What the waiter is granted after that is given back. */
        @Override
        public void close() {
            isLeaving = !waiter.isGranted();
            try {
                waiter.leave();
            } finally {
                remove(this);
            }
        }
    }

    private void remove(Entry entry) {
        Waiter waiter = entry.waiter;
        if (!waiter.isGranted()) {
            ended.put(waiter.attempt(), waiter);
        } else if (waiter.isGrantedInTurn()) {
            contended.put(waiter.token(), true);
        }
        waiting.remove(waiter.attempt());
        entry.left.countDown();
    }

    /** Whether others waited for the resource when the key was granted it. Only a hint, which may be forgotten. */
    boolean wasGrantedInTurn(String token) {
        return contended.remove(token) != null;
    }

    /**
     * Handles {@code <attempt> <want> <us> <ttl ms> <fence>}, a grant; {@code <attempt> ?}, which says to ask again. About no
     * waiter are {@code <attempt> ! <fence> <key>}, the end of a hold by force, and {@code <attempt> ~ <key>}, the recall of one.
     */
    void message(String text) {
        String[] end = text.split(" ", 4);
        if (end.length == 4 && end[1].equals("!")) {
            forced.message(end[2], end[3]);
            return;
        }
        String[] recall = text.split(" ", 3);
        if (recall.length == 3 && recall[1].equals("~")) {
            names.resource(recall[2].getBytes(StandardCharsets.UTF_8)).ifPresent(kept::recall);
            return;
        }
        String[] parts = text.split(" ", -1);
        Entry entry = waiting.get(parts[0]);
        if (entry != null && parts.length == 2 && parts[1].equals("?")) {
            entry.waiter.askAgain();
        }
        Grant grant = Grant.read(parts);
        if (grant != null) {
            passOn(parts[0], waiter -> waiter.granted(grant));
        }
    }

    /**
     * Reads from the reply to a release which waiters of this store were granted what they wait for, and which one has a place in
     * the queue. On a cluster, the server that released may not be the one that gave the others a place, and its clock may differ.
     *
     * @param sinceNanos a time before the release was sent
     * @param generation of the connection before it was sent
     */
    void handedOver(List<Long> reply, long sinceNanos, int generation) {
        OptionalLong since = OptionalLong.of(sinceNanos);
        for (int i = 1; i < reply.size(); i += 4) {
            long now = reply.get(i + 1);
            long millis = reply.get(i + 2);
            long fence = reply.get(i + 3);
            QueuePosition position = new QueuePosition(sinceNanos, now, generation);
            Consumer<Waiter> news = fence > 0
                    ? waiter -> waiter.granted(new Grant(now, millis, fence, since), position)
                    : waiter -> waiter.queued(position, millis);
            passOn(id + '.' + reply.get(i), news);
        }
    }

    /** Passes on what a waiter has got; gives it back if its wait is over, or may be before it hears of it. */
    private void passOn(String attempt, Consumer<Waiter> news) {
        Entry entry = waiting.get(attempt);
        if (entry == null) {
            giveBack(ended.get(attempt));
            return;
        }
        news.accept(entry.waiter);
        if (entry.isLeaving) {
            giveBack(entry.waiter);
        }
    }

    private static void giveBack(@Nullable Waiter over) {
        if (over != null) {
            over.giveBack();
        }
    }

    /** Has all waiters ask again, and recalls what is kept: messages may have been missed. */
    void askAgain() {
        kept.recallAll();
        waiting.values().forEach(entry -> entry.waiter.askAgain());
    }

    /** Has those who wait for a resource ask again: what they were granted may have been missed. */
    void askAgain(String resource) {
        waiting.values().stream()
                .map(entry -> entry.waiter)
                .filter(waiter -> waiter.resource().equals(resource))
                .forEach(Waiter::askAgain);
    }

    /** The messages may come from another server from now on, with another clock. */
    void disconnected() {
        kept.recallAll();
        server.link().newGeneration();
    }

    /** Fails all waits, and lets them leave the queue before the connections are closed. */
    void close() {
        closed = true;
        Collection<Entry> leaving = List.copyOf(waiting.values());
        leaving.forEach(entry -> entry.waiter.fail());
        long end = System.nanoTime() + server.limit().toNanos();
        leaving.forEach(entry -> awaitQuietly(entry.left, end));
    }

    private static void awaitQuietly(CountDownLatch left, long endNanos) {
        boolean interrupted = false;
        boolean waits = true;
        while (waits) {
            try {
                waits = !left.await(Math.max(0, endNanos - System.nanoTime()), TimeUnit.NANOSECONDS)
                        && endNanos - System.nanoTime() > 0;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
