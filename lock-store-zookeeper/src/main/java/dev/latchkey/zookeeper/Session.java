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
 * One session with the servers, and what depends on it.
 *
 * <p>The leader ends a session when it has not heard of it for the session timeout. What the session carries is given up
 * when that may have come, which {@link SessionProof} tells. Only a request that a quorum of the servers has carried out proves
 * anything: a server may be cut off from its leader, and a leader that was deposed, and does not know it yet, answers by
 * itself whatever needs no quorum, a {@code sync} as well.
 */
final class Session {

    /** A client that has no connection yet knows no timeout. */
    private static final long LEAST_IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(25);

    private final ZooKeeper client;
    private final String root;
    private final Requests requests;
    private final DirectRequests directRequests;
    private final Sweeper sweeper;
    private final PredecessorWatches neighbours;
    private final LastReleasedNodes trail = new LastReleasedNodes();
    private final Set<Hold> holds = ConcurrentHashMap.newKeySet();
    private final Set<Waiter> joiners = ConcurrentHashMap.newKeySet();
    private final Set<Waiter> waiters = ConcurrentHashMap.newKeySet();
    private final SessionProof proofs;
    private final Freezes freezes;
    private final SessionTimeout timeout;

    /** Guards that the end is looked at, and what it takes is taken, in one step: what is carried after that is spared. */
    private final Object ending = new Object();

    private volatile Term term = new Term();
    private @Nullable CompletableFuture<?> beat;
    private long beatNanos;
    private volatile boolean ended;

    Session(ZooKeeper client, NodeSettings settings, SessionProof proofs, Freezes freezes) {
        this.client = client;
        this.proofs = proofs;
        this.freezes = freezes;
        this.timeout = new SessionTimeout(client);
        this.root = settings.paths().root();
        Replies answers = new Replies(this::prove, this::end);
        this.requests = new Requests(client, settings.acl(), answers);
        this.directRequests = new DirectRequests(client, settings.acl(), answers);
        this.neighbours = new PredecessorWatches(requests);
        this.sweeper = new Sweeper(requests, neighbours);
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

    PredecessorWatches neighbours() {
        return neighbours;
    }

    LastReleasedNodes lastReleased() {
        return trail;
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
            if (proofs.addUnlessOver(sentNanos, timeoutNanos(), frozen)) {
                return;
            }
            // First, so that who is carried too late to be ended here sees it: see carry.
            term.isOver = true;
            term = new Term();
            endAll(LossReason.SESSION_LOST);
            proofs.add(sentNanos, System.nanoTime(), timeoutNanos(), frozen);
        }
        tellOfLosses();
    }

    /**
     * Has it proven that the servers will keep it for a while, unless that can be presumed. It cannot after this process has
     * stood still: then it takes a quarter of the session timeout. If no server answers, that is left to what is asked next.
     */
    <X extends Exception> void makeSure(CallTimeout<X> limit) throws X {
        while (!isEnded() && !limit.isOver() && isInDoubt()) {
            if (!limit.answer(requests.commit(root)).isCommitted()) {
                limit.pause();
            } else if (isInDoubt()) {
                limit.pauseUntil(proofs.dueNanos(timeoutNanos()));
            }
        }
    }

    /** For how long {@link #makeSure} may try. */
    long sureNanos() {
        return timeoutNanos() / 4 + Failures.LEAVING_NANOS;
    }

    /** Not of a client that was never connected: it knows no timeout, and its first connection tells whether the session is there. */
    private boolean isInDoubt() {
        long now = System.nanoTime();
        return timeout.isKnown() && proofs.isTooLittle(now, timeoutNanos(), freezes.longestNanos(now));
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
        if (isLiveNow()) {
            return true;
        }
        synchronized (ending) {
            if (isLiveNow()) {
                // Proven in between, which has ended all that was carried before.
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
     * Whether the servers cannot have ended it yet by the clock, for who holds and looks: it gives up nothing. Of an end that is
     * known here the holds are told, with its reason. False for ever once it was, for the holds of that time, whatever is
     * proven later.
     */
    BooleanSupplier mayLive() {
        return term;
    }

    private boolean mayLiveNow() {
        return System.nanoTime() - endNanos() < 0;
    }

    /** When the servers may end it at the earliest, by what is known. */
    long endNanos() {
        return proofs.endNanos(timeoutNanos());
    }

    private long timeoutNanos() {
        return timeout.nanos();
    }

    private void end() {
        ended = true;
        lose(LossReason.SESSION_LOST);
    }

    /** Ends it for this store; its client is about to be closed. */
    void close(LossReason reason) {
        ended = true;
        leave(reason);
    }

    /** Everything it carries is no longer known to be held or in line, and is removed as soon as that is possible. */
    void lose(LossReason reason) {
        synchronized (ending) {
            endAll(reason);
        }
        tellOfLosses();
    }

    /** Calls nobody back; with {@link #ending} locked. */
    private void endAll(LossReason reason) {
        holds.forEach(hold -> hold.endAsLost(reason));
        waiters.forEach(waiter -> waiter.end(WaitSignal.SESSION_LOST));
    }

    /** Calls the holders back: without a lock. */
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

    /** As {@link #lose}, at the end of the store: also for those who are just joining a line. */
    void leave(LossReason reason) {
        joiners.forEach(waiter -> waiter.end(WaitSignal.SESSION_LOST));
        lose(reason);
    }

    /** False if it has just been lost. */
    boolean carry(Hold hold) {
        holds.add(hold);
        // Looked at in this order: an end either has found the hold, or has come before, to what the hold was granted
        // in.
        return isLive() && hold.isLive() && hold.mayLive();
    }

    void drop(Hold hold) {
        holds.remove(hold);
    }

    /** One who gets in line now: its place does not depend on this session before it has one. */
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

    /** How many wait in line. */
    int waiting() {
        return waiters.size();
    }

    /** Nothing depends on it. */
    boolean isIdle() {
        return holds.isEmpty() && waiters.isEmpty();
    }

    /**
     * Has a quorum prove that it lives, if that is due. More often than the client would say that it is there: it then
     * sends nothing else.
     *
     * @return after how many nanoseconds at the latest this is to be called again
     */
    long beat() {
        long timeoutNanos = timeoutNanos();
        long lookNanos = Freezes.lookNanos(timeoutNanos);
        freezes.look(System.nanoTime(), timeoutNanos);
        if (isIdle()) {
            return Math.max(lookNanos, LEAST_IDLE_NANOS);
        }
        // One who tells may have been interrupted by an error, as where memory runs out, or be kept by a holder's
        // callback.
        tellOfLosses();
        // A client that was closed by its owner says nothing.
        boolean live = isLive();
        long dueNanos = proofs.beatNanos(timeoutNanos) - System.nanoTime();
        if (dueNanos <= 0) {
            askForProof(timeoutNanos);
        }
        long soonest = dueNanos > 0 ? Math.min(dueNanos, lookNanos) : lookNanos;
        // No later than the end, of which nobody else tells the holders.
        return live ? Math.min(soonest, proofs.endNanos(timeoutNanos) - System.nanoTime()) : soonest;
    }

    private void askForProof(long timeoutNanos) {
        long now = System.nanoTime();
        // The client calls back once: what that throws, as where memory runs out, loses the answer for good.
        if (beat == null || beat.isDone() || now - beatNanos >= timeoutNanos / 4) {
            beatNanos = now;
            beat = requests.commit(root);
        }
    }

    /** From one end to the next: what was over once stays so. */
    private final class Term implements BooleanSupplier {

        private volatile boolean isOver;

        @Override
        public boolean getAsBoolean() {
            return !isOver && mayLiveNow();
        }
    }
}
