package dev.latchkey.redis;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * All who wait in one store.
 *
 * <p>Messages are matched with calls by the attempt, not by the token: the same key may wait twice. A grant to a call that
 * ended without it is given back; a grant to one that ended with it says nothing new, and must not be given back.
 */
final class WaiterRegistry implements MessageHandler {

    private static final int REMEMBERED_ENDED = 1_000;
    private static final int REMEMBERED_CONTENDED = 10_000;

    private final ScriptRunner server;
    private final String id = newId();
    private final AtomicLong attempts = new AtomicLong();
    private final Map<String, QueuedAcquire> waiting = new ConcurrentHashMap<>();
    private final Map<String, Runnable> ended = Collections.synchronizedMap(new Remembered<>(REMEMBERED_ENDED));
    private final Map<String, Boolean> contended = Collections.synchronizedMap(new Remembered<>(REMEMBERED_CONTENDED));

    /** Fair, so that those who come while the store connects ask in the order they came. */
    private final ReentrantLock beginning = new ReentrantLock(true);

    private volatile boolean closed;

    WaiterRegistry(ScriptRunner server) {
        this.server = server;
    }

    /** What the messages of this store are addressed to. */
    String id() {
        return id;
    }

    private static String newId() {
        byte[] random = new byte[9];
        new SecureRandom().nextBytes(random);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(random);
    }

    String newAttempt() {
        return id + '.' + attempts.incrementAndGet();
    }

    /** Has a wait ask for the first time. */
    void begin(QueueRequests questions, QueuedAcquire wait) throws InterruptedException {
        waiting.put(questions.attempt(), wait);
        if (closed) {
            // Looked at now that close() would find this wait.
            throw questions.closed();
        }
        if (server.link().isConnected() && !beginning.hasQueuedThreads()) {
            wait.begin();
            return;
        }
        if (!beginning.tryLock(server.link().connectLimit().toNanos(), TimeUnit.NANOSECONDS)) {
            throw server.link().cannotConnect(questions.resource());
        }
        try {
            server.link().connect(questions.resource());
            wait.begin();
        } finally {
            beginning.unlock();
        }
    }

    /** The wait is over. Unless it was granted, whatever the server may still grant it is given back. */
    void end(QueueRequests questions, QueuedAcquire wait, @Nullable Runnable giveBack) {
        if (giveBack != null) {
            ended.put(questions.attempt(), giveBack);
        }
        waiting.remove(questions.attempt());
        wait.ended().countDown();
    }

    @Override
    public void message(String text) {
        GrantMessage push = GrantMessage.read(text);
        if (push == null) {
            return;
        }
        if (push.grant() != null) {
            granted(push.attempt(), push.grant());
            return;
        }
        QueuedAcquire wait = waiting.get(push.attempt());
        if (wait != null) {
            wait.signal(new WaiterEvent.AskAgain());
        }
    }

    /**
     * Reads from the reply to a release which waiters of this store it was handed to. In a cluster the server that released may
     * be another one than granted them a place, with another clock.
     *
     * @param sinceNanos a time before the release was sent
     */
    void handedOver(List<Long> reply, long sinceNanos) {
        OptionalLong since = OptionalLong.of(sinceNanos);
        for (int i = 1; i < reply.size(); i += 4) {
            granted(
                    id + '.' + reply.get(i),
                    new GrantMessage.Grant(reply.get(i + 1), reply.get(i + 2), reply.get(i + 3), since));
        }
    }

    private void granted(String attempt, GrantMessage.Grant grant) {
        QueuedAcquire wait = waiting.get(attempt);
        if (wait != null) {
            wait.signal(new WaiterEvent.Granted(grant));
            return;
        }
        Runnable giveBack = ended.get(attempt);
        if (giveBack != null) {
            giveBack.run();
        }
    }

    @Override
    public void missed() {
        waiting.values().forEach(wait -> wait.signal(new WaiterEvent.AskAgain()));
    }

    @Override
    public void disconnected() {
        server.link().newGeneration();
    }

    /** Others waited for this resource when the key was granted it. Only a hint: it may be forgotten. */
    void grantedInTurn(String token) {
        contended.put(token, true);
    }

    boolean wasGrantedInTurn(String token) {
        return contended.remove(token) != null;
    }

    /** Fails all waits, and lets them leave the queue before the connections end. */
    void close() {
        closed = true;
        ArrayList<CountDownLatch> leaving = new ArrayList<>();
        for (QueuedAcquire wait : waiting.values()) {
            leaving.add(wait.ended());
            wait.signal(new WaiterEvent.Closed());
        }
        long end = System.nanoTime() + server.limit().toNanos();
        for (CountDownLatch left : leaving) {
            awaitQuietly(left, end);
        }
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

    boolean isClosed() {
        return closed;
    }

    /** The youngest entries, up to a number. */
    private static final class Remembered<V> extends LinkedHashMap<String, V> {

        private final int most;

        Remembered(int most) {
            this.most = most;
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, V> eldest) {
            return size() > most;
        }
    }
}
