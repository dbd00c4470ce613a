package dev.latchkey.zookeeper;

import dev.latchkey.LossReason;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/**
 * One session with the servers, and what depends on it.
 *
 * <p>The leader ends a session when it has not heard of it for the session timeout. It hears of it through the server the
 * client is connected to, which reports twice a tick; a tick is half the shortest timeout a server grants. So a session
 * lives at least three quarters of its timeout from the moment a request was sent that the leader has answered, and what
 * it carries is given up then. An answer of that server alone proves nothing: it may be cut off from the leader.
 */
final class Session {

    private final ZooKeeper client;
    private final String root;
    private final Requests requests;
    private final DirectRequests directRequests;
    private final Sweeper sweeper;
    private final Neighbours neighbours;
    private final Trail trail = new Trail();
    private final Set<Hold> holds = ConcurrentHashMap.newKeySet();
    private final Set<Waiter> waiters = ConcurrentHashMap.newKeySet();
    private final AtomicLong provenNanos = new AtomicLong(System.nanoTime());
    private @Nullable CompletableFuture<?> beat;
    private volatile boolean ended;

    Session(ZooKeeper client, Settings settings) {
        this.client = client;
        this.root = settings.paths().root();
        Answers answers = new Answers(this::prove, this::end);
        this.requests = new Requests(client, settings.acl(), answers);
        this.directRequests = new DirectRequests(client, settings.acl(), answers);
        this.sweeper = new Sweeper(requests);
        this.neighbours = new Neighbours(requests);
    }

    Requests requests() {
        return requests;
    }

    DirectRequests directRequests() {
        return directRequests;
    }

    Sweeper sweeper() {
        return sweeper;
    }

    Neighbours neighbours() {
        return neighbours;
    }

    Trail trail() {
        return trail;
    }

    ZooKeeper client() {
        return client;
    }

    long id() {
        return client.getSessionId();
    }

    private void prove(long sentNanos) {
        provenNanos.accumulateAndGet(sentNanos, (one, other) -> one - other > 0 ? one : other);
    }

    /** Its client is of no more use. */
    boolean isEnded() {
        return ended || !client.getState().isAlive();
    }

    /** Ended in a way that another one of the same kind may do better. */
    boolean hasExpired() {
        return isEnded() && client.getState() != ZooKeeper.States.AUTH_FAILED;
    }

    /** Whether the servers cannot have ended it yet; what it carries is lost as soon as they may have. */
    boolean isLive() {
        boolean live = !isEnded() && System.nanoTime() - provenNanos.get() < lifeNanos();
        if (!live) {
            lose(LossReason.SESSION_LOST);
        }
        return live;
    }

    private long lifeNanos() {
        return timeoutNanos() / 4 * 3;
    }

    private long timeoutNanos() {
        return TimeUnit.MILLISECONDS.toNanos(Math.max(client.getSessionTimeout(), 100));
    }

    private void end() {
        ended = true;
        lose(LossReason.SESSION_LOST);
    }

    /** Ends it for this store; its client is about to be closed. */
    void close(LossReason reason) {
        ended = true;
        lose(reason);
    }

    /** Everything it carries is no longer known to be held or in line, and is removed as soon as that is possible. */
    void lose(LossReason reason) {
        holds.forEach(hold -> {
            if (holds.remove(hold) && hold.lose(reason) && !ended) {
                sweeper.sweep(hold.place());
            }
        });
        waiters.forEach(waiter -> waiter.end(Signal.SESSION_LOST));
    }

    /** False if it has just been lost. */
    boolean carry(Hold hold) {
        holds.add(hold);
        return isLive() && hold.isLive();
    }

    void drop(Hold hold) {
        holds.remove(hold);
    }

    void add(Waiter waiter) {
        waiters.add(waiter);
    }

    void remove(Waiter waiter) {
        waiters.remove(waiter);
    }

    /** How many wait in line. */
    int waiting() {
        return waiters.size();
    }

    /** Nothing depends on it. */
    boolean isIdle() {
        return holds.isEmpty() && waiters.isEmpty();
    }

    /**
     * Has the leader prove that it lives, if that is due. More often than the client would say that it is there: it then
     * sends nothing else.
     *
     * @return after how many nanoseconds at the latest this is to be called again
     */
    long beat() {
        boolean live = isLive();
        long interval = timeoutNanos() / 4;
        long due = interval - (System.nanoTime() - provenNanos.get());
        if (due > 0) {
            return due;
        }
        if (beat == null || beat.isDone()) {
            beat = requests.sync(root);
        }
        return live ? Math.min(interval / 4, lifeNanos() - (System.nanoTime() - provenNanos.get())) : interval / 4;
    }
}
