package dev.latchkey.zookeeper;

import dev.latchkey.LossReason;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/**
 * A session with the servers, and the holds and waiters that depend on it.
 *
 * <p>The leader ends a session when it has not heard from it for the session timeout. The store ends the holds of a session
 * when that may have happened, which {@link SessionProof} computes. Only a request that a quorum has committed proves the
 * session: a server may be cut off from its leader, and a deposed leader that does not know it yet answers by itself
 * everything that needs no quorum, even a {@code sync}.
 */
final class Session {

    /** For a client that has not been connected yet, and knows no timeout. */
    private static final long LEAST_IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(25);

    private final ZooKeeper client;
    private final String root;
    private final Requests requests;
    private final DirectRequests directRequests;
    private final Sweeper sweeper;
    private final Recalls recalls;
    private final PredecessorWatches predecessorWatches;
    private final LastReleasedNodes lastReleased = new LastReleasedNodes();
    private final Set<Hold> holds = ConcurrentHashMap.newKeySet();
    private final Set<Waiter> joiners = ConcurrentHashMap.newKeySet();
    private final Set<Waiter> waiters = ConcurrentHashMap.newKeySet();
    private final SessionProof proof;
    private final Freezes freezes;
    private final SessionTimeout timeout;

    /** Makes it one step to see the end and to end the holds: holds that are carried after that are spared. */
    private final Object ending = new Object();

    private volatile Term term = new Term();
    private @Nullable CompletableFuture<?> beat;
    private long beatNanos;
    private volatile boolean ended;

    Session(ZooKeeper client, NodeSettings settings, SessionProof proof, Freezes freezes) {
        this.client = client;
        this.proof = proof;
        this.freezes = freezes;
        this.timeout = new SessionTimeout(client);
        this.root = settings.paths().root();
        Replies answers = new Replies(this::prove, this::end);
        this.requests = new Requests(client, settings.acl(), answers);
        this.directRequests = new DirectRequests(client, settings.acl(), answers);
        this.predecessorWatches = new PredecessorWatches(requests);
        this.sweeper = new Sweeper(requests, predecessorWatches);
        this.recalls = new Recalls(requests);
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

    Recalls recalls() {
        return recalls;
    }

    PredecessorWatches predecessorWatches() {
        return predecessorWatches;
    }

    LastReleasedNodes lastReleased() {
        return lastReleased;
    }

    ZooKeeper client() {
        return client;
    }

    long id() {
        return client.getSessionId();
    }

    private void prove(long sentNanos) {
        long frozen = freezes.longestNanos(System.nanoTime());
        synchronized (ending) {
            if (proof.addUnlessOver(sentNanos, timeoutNanos(), frozen)) {
                return;
            }
            // First, so that a hold which is carried too late to be ended here sees it: see carry.
            term.isOver = true;
            term = new Term();
            endAll(LossReason.SESSION_LOST);
            proof.add(sentNanos, System.nanoTime(), timeoutNanos(), frozen);
        }
        tellOfLosses();
    }

    /**
     * Proves that the servers will keep the session for a while, unless that is known. It is not known after this process has
     * stood still; the proof then takes a quarter of the session timeout. If no server answers, the next request fails.
     */
    <X extends Exception> void makeSure(CallTimeout<X> limit) throws X {
        while (!isEnded() && !limit.isOver() && isInDoubt()) {
            if (!limit.answer(requests.commit(root)).isCommitted()) {
                limit.pause();
            } else if (isInDoubt()) {
                limit.pauseUntil(proof.dueNanos(timeoutNanos()));
            }
        }
    }

    /**
     * Proves the session again if it may be over, as when an answer took longer than half of the session timeout. If it was
     * not over, its nodes are still there.
     */
    void proveIfOver(CallTimeout<RuntimeException> limit) {
        while (!isEnded() && !limit.isOver() && !isLiveNow()) {
            if (!limit.answer(requests.commit(root)).isCommitted()) {
                limit.pause();
            }
        }
    }

    /** Returns how long {@link #makeSure} may try. */
    long sureNanos() {
        return timeoutNanos() / 4 + Failures.LEAVING_NANOS;
    }

    /** Returns false for a client that was never connected: its first connection shows whether the session exists. */
    private boolean isInDoubt() {
        long now = System.nanoTime();
        return timeout.isKnown() && proof.isTooLittle(now, timeoutNanos(), freezes.longestNanos(now));
    }

    /** Returns whether its client can no longer be used. */
    boolean isEnded() {
        return ended || !client.getState().isAlive();
    }

    /** Returns whether it has ended, and another session may succeed. */
    boolean hasExpired() {
        return isEnded() && client.getState() != ZooKeeper.States.AUTH_FAILED;
    }

    /** Returns whether the servers cannot have ended it yet; if they may have, ends all its holds. */
    boolean isLive() {
        if (isLiveNow()) {
            return true;
        }
        synchronized (ending) {
            if (isLiveNow()) {
                // Proven in between, which has ended all earlier holds.
                return true;
            }
            endAll(LossReason.SESSION_LOST);
        }
        tellOfLosses();
        return false;
    }

    private boolean isLiveNow() {
        return !isEnded() && mayLiveNow();
    }

    /**
     * Returns a check for holders, by the clock: whether the servers cannot have ended the session yet. It ends nothing.
     * Once it has returned false, it stays false for the holds of that time, even if the session is proven later.
     */
    BooleanSupplier mayLive() {
        return term;
    }

    private boolean mayLiveNow() {
        return System.nanoTime() - endNanos() < 0;
    }

    /** Returns when the servers may end it at the earliest. */
    long endNanos() {
        return proof.endNanos(timeoutNanos());
    }

    private long timeoutNanos() {
        return timeout.nanos();
    }

    private void end() {
        ended = true;
        lose(LossReason.SESSION_LOST);
    }

    /** Ends it for this store, whose client is closed next. */
    void close(LossReason reason) {
        ended = true;
        leave(reason);
    }

    /** Ends all its holds and waits; their nodes are removed as soon as possible. */
    void lose(LossReason reason) {
        synchronized (ending) {
            endAll(reason);
        }
        tellOfLosses();
    }

    /** Call it with {@link #ending} locked: it runs no callbacks. */
    private void endAll(LossReason reason) {
        holds.forEach(hold -> hold.endAsLost(reason));
        waiters.forEach(waiter -> waiter.end(WaitSignal.SESSION_LOST));
    }

    /** Runs the callbacks of the holders. Call it without a lock. */
    private void tellOfLosses() {
        holds.forEach(hold -> {
            if (hold.tellOfLoss()) {
                holds.remove(hold);
                if (!ended) {
                    sweeper.sweep(hold.place());
                }
            }
        });
    }

    /** As {@link #lose}, when the store closes: also ends waiters that are just joining a queue. */
    void leave(LossReason reason) {
        joiners.forEach(waiter -> waiter.end(WaitSignal.SESSION_LOST));
        lose(reason);
    }

    /** Adds a hold; returns false if the session may have ended since the grant. */
    boolean carry(Hold hold) {
        holds.add(hold);
        // In this order: an end has either found the hold, or has come before and is seen by the checks.
        return isLive() && hold.isLive() && hold.mayLive();
    }

    void drop(Hold hold) {
        holds.remove(hold);
    }

    /** Adds a waiter that is joining the queue: it does not depend on this session before it has a node. */
    void joins(Waiter waiter) {
        joiners.add(waiter);
    }

    void add(Waiter waiter) {
        waiters.add(waiter);
        joiners.remove(waiter);
    }

    void remove(Waiter waiter) {
        joiners.remove(waiter);
        waiters.remove(waiter);
    }

    /** Returns the number of waiters in queues. */
    int waiting() {
        return waiters.size();
    }

    /** Returns whether nothing depends on it. */
    boolean isIdle() {
        return holds.isEmpty() && waiters.isEmpty();
    }

    /**
     * Proves the session by a quorum if that is due. This is more often than the client would ping, so the client sends no
     * pings.
     *
     * @return the number of nanoseconds after which to call it again at the latest
     */
    long beat() {
        long timeoutNanos = timeoutNanos();
        long lookNanos = Freezes.lookNanos(timeoutNanos);
        freezes.look(System.nanoTime(), timeoutNanos);
        if (isIdle()) {
            return Math.max(lookNanos, LEAST_IDLE_NANOS);
        }
        // A thread that tells may have failed, as when memory runs out, or be blocked in a holder's callback.
        tellOfLosses();
        long now = System.nanoTime();
        holds.forEach(hold -> hold.recallIfOver(now));
        // A client that was closed by its owner reports nothing.
        boolean live = isLive();
        long dueNanos = proof.beatNanos(timeoutNanos) - System.nanoTime();
        if (dueNanos <= 0) {
            askForProof(timeoutNanos);
        }
        long soonest = dueNanos > 0 ? Math.min(dueNanos, lookNanos) : lookNanos;
        // No later than the end: nothing else tells the holders.
        return live ? Math.min(soonest, proof.endNanos(timeoutNanos) - System.nanoTime()) : soonest;
    }

    private void askForProof(long timeoutNanos) {
        long now = System.nanoTime();
        // The client calls back once: if the callback throws, as when memory runs out, the answer is lost.
        if (beat == null || beat.isDone() || now - beatNanos >= timeoutNanos / 4) {
            beatNanos = now;
            beat = requests.commit(root);
        }
    }

    /** The time from one end to the next: once it is over, it stays over. */
    private final class Term implements BooleanSupplier {

        private volatile boolean isOver;

        @Override
        public boolean getAsBoolean() {
            return !isOver && mayLiveNow();
        }
    }
}
