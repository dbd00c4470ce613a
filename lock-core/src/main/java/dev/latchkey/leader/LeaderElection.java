package dev.latchkey.leader;

import dev.latchkey.Key;
import dev.latchkey.LockFactory;
import dev.latchkey.LockMode;
import dev.latchkey.spi.Holder;
import dev.latchkey.threads.DaemonThreads;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Elects one leader among all processes, and objects, that stand in an election of the same name. Each elected leader leads for
 * a {@link Term}, until it resigns, fails, is closed, or loses the lock of the election.
 *
 * <pre>{@code
 * LeaderElection election = LeaderElection.builder(locks, "dispatcher")
 *         .onElected(term -> {
 *             while (term.lasts()) {
 *                 dispatch(term.number());
 *             }
 *         })
 *         .start();
 * }</pre>
 *
 * <p>There are never two whose term lasts, unless somebody takes the lock of a leader away, as by
 * {@link LockFactory#forceRelease}: it then leads until it hears of that, or has asked the store, at the latest a third of the TTL
 * later. On a store with leases, a callback that returns within the stop time after the end of its term never runs beside that of
 * another leader: the lock is released when it has returned. A lock that is taken away, or ends with its session, waits for no
 * callback. This object calls the callback for the next term only when it has returned.
 *
 * <p>After each term, it stands again behind all who wait already, after a pause. If the store fails while it stands, it tries
 * again, after longer and longer pauses; listeners of the factory hear of it ({@link dev.latchkey.LockListener#failed}), and the
 * first failure in a row is logged as a warning.
 *
 * <p>Thread-safe. Uses daemon threads: one that stands, and one for each term.
 */
public final class LeaderElection implements AutoCloseable {

    private final LockFactory locks;
    private final ElectionSettings settings;
    private final Candidate candidate;
    private final Thread thread;
    private final ThreadLocal<Boolean> isLeading = ThreadLocal.withInitial(() -> false);

    private LeaderElection(LockFactory locks, ElectionSettings settings) {
        this.locks = locks;
        this.settings = settings;
        this.candidate = new Candidate(
                locks,
                new ElectionSettings(
                        settings.name(), settings.ttl(), settings.stopTime(), settings.backoff(), this::lead));
        this.thread = new DaemonThreads().make(candidate, "latchkey-candidate");
    }

    /**
     * Returns a builder of an election.
     *
     * @param locks creates the lock; the caller closes it, after the election
     * @param name of the election, which is the resource of its lock: any text of at most {@link Key#MAX_RESOURCE_BYTES}
     *     bytes in UTF-8
     * @return a builder
     * @throws IllegalArgumentException if the name is too long or not valid Unicode
     */
    public static Builder builder(LockFactory locks, String name) {
        return new Builder(Objects.requireNonNull(locks, "locks"), Key.of(name).resource());
    }

    private void lead(Term term) throws Exception {
        isLeading.set(true);
        settings.leader().lead(term);
    }

    /**
     * Returns whether this object leads, without asking the store.
     *
     * @return as {@link Term#lasts()}
     */
    public boolean isLeader() {
        return term().isPresent();
    }

    /**
     * Returns the term in which this object leads, without asking the store.
     *
     * @return empty if it does not lead
     */
    public Optional<Term> term() {
        return candidate.term();
    }

    /**
     * Ends the term of this object, which stands again later, behind all who wait. Its callback is interrupted, and the lock is
     * released as soon as the callback has returned, or when its stop time is over. The call does not wait for that.
     *
     * @return whether it led until now
     */
    public boolean resign() {
        return term().filter(term -> term.end(TermEnd.RESIGNED)).isPresent();
    }

    /**
     * Asks the store who leads, in whatever process. {@link LockFactory#holders} with the name of the election is the same for
     * a process that does not stand. The answer may be outdated when it is read.
     *
     * @return the leader; its fencing token is the number of the term, and its description is the
     *     {@link LockFactory.Builder#owner} of the factory, unless the store describes holders otherwise. Empty if nobody leads
     * @throws UnsupportedOperationException if the store has no {@link dev.latchkey.Capability#HOLDERS}
     * @throws dev.latchkey.LockStorageException if the store failed or did not answer
     */
    public Optional<Holder> leader() {
        return locks.holders(settings.name()).stream()
                .filter(holder -> holder.mode() == LockMode.EXCLUSIVE)
                .findFirst();
    }

    /**
     * Ends the term, and stands no more. Waits until the callback has returned, at most for the stop time, and until the lock is
     * released: if the store does not answer, for as long as the store waits for that. If it is called by the callback, it does not
     * wait. The call is idempotent, and works with the thread's
     * interrupt flag set, which it keeps.
     */
    @Override
    public void close() {
        candidate.close();
        if (isLeading.get()) {
            return;
        }
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns the name of the election, and whether this object leads. */
    @Override
    public String toString() {
        return "LeaderElection[" + settings.shownName() + ", " + (isLeader() ? "leads" : "does not lead") + "]";
    }

    /** Options of an election. Not thread-safe. */
    public static final class Builder {

        private static final Duration DEFAULT_TTL = Duration.ofSeconds(30);

        /** What is left of a lease when it is renewed is about two thirds. */
        private static final int LEAST_TTL_IN_STOP_TIMES = 2;

        private static final int DEFAULT_TTL_IN_STOP_TIMES = 4;

        private final LockFactory locks;
        private final String name;
        private Duration ttl = DEFAULT_TTL;
        private @Nullable Duration stopTime;
        private Backoff backoff = new Backoff(Duration.ofSeconds(1), Duration.ofMinutes(1));
        private @Nullable Leader leader;

        private Builder(LockFactory locks, String name) {
            this.locks = locks;
            this.name = name;
        }

        /**
         * Sets the time after which another process may lead if the leader dies. The default is 30 s.
         *
         * @param newTtl from 3 ms to 100 years, within the limits of the store. Where there are no leases, it says only how often
         *     a leader asks the store whether it still holds the lock: at every third of it
         * @return this
         * @throws IllegalArgumentException if it is out of range
         */
        public Builder ttl(Duration newTtl) {
            locks.lock(name).ttl(newTtl);
            this.ttl = newTtl;
            return this;
        }

        /**
         * Sets how long the callback may take to return after its term has ended. So long before the end of its lease a term
         * ends that is not renewed, and so long a leader that resigns, or is closed, waits before it releases the lock. The
         * default is a quarter of the TTL.
         *
         * @param time zero or more, and at most half of the TTL
         * @return this
         * @throws IllegalArgumentException if it is negative
         */
        public Builder stopTime(Duration time) {
            if (time.isNegative()) {
                throw new IllegalArgumentException("a stopTime of " + time + " must not be negative");
            }
            this.stopTime = time;
            return this;
        }

        /**
         * Sets how long to wait before standing again. The default is 1 s at first, and 1 min at the most. Each pause is up to a
         * half longer, at random.
         *
         * @param first the pause after a term that was lost or resigned, or whose callback has returned, and after the first
         *     failure of the store or of the callback
         * @param longest the limit of the pauses, which double with each further failure in a row; more than 100 years are as
         *     good as none
         * @return this
         * @throws IllegalArgumentException if {@code first} is not positive or longer than {@code longest}
         */
        public Builder backoff(Duration first, Duration longest) {
            if (first.isNegative() || first.isZero() || first.compareTo(longest) > 0) {
                throw new IllegalArgumentException("a backoff from " + first + " to " + longest
                        + " is out of range: it must begin with more than zero, and not with more than it ends with");
            }
            this.backoff = new Backoff(first, longest);
            return this;
        }

        /**
         * Sets the callback.
         *
         * @param newLeader called for each term
         * @return this
         */
        public Builder onElected(Leader newLeader) {
            this.leader = Objects.requireNonNull(newLeader, "leader");
            return this;
        }

        /**
         * Stands for election from now on, without waiting for the store.
         *
         * @return the election, to be closed before its factory
         * @throws IllegalStateException if there is no callback
         * @throws IllegalArgumentException if the stop time is more than half of the TTL
         */
        public LeaderElection start() {
            if (leader == null) {
                throw new IllegalStateException("there is nothing to do for a leader: call onElected first");
            }
            Duration stop = stopTime == null ? ttl.dividedBy(DEFAULT_TTL_IN_STOP_TIMES) : stopTime;
            if (stop.compareTo(ttl.dividedBy(LEAST_TTL_IN_STOP_TIMES)) > 0) {
                throw new IllegalArgumentException(
                        "a stopTime of " + stop + " must be at most half of the TTL of " + ttl);
            }
            LeaderElection election = new LeaderElection(locks, new ElectionSettings(name, ttl, stop, backoff, leader));
            election.thread.start();
            return election;
        }
    }
}
