package dev.latchkey;

import dev.latchkey.LockConflictedException.Reason;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * One would-be holder of a resource.
 *
 * <p>Acquiring it again renews the hold; there is no counting, and one release ends it. Two Locks over one {@link Key}
 * are the same owner. Two Locks made for the same resource are rivals, in one thread as across continents.
 *
 * <p>Thread-safe. Made by a {@link LockFactory}, whose {@link LockFactory#close()} ends its hold, and so does an orderly exit
 * of the JVM, unless it has no auto-release. It is never released because nobody refers to it any more: a Lock that is
 * garbage-collected while it holds something keeps it, and is renewed on if the factory does that; a warning names the place
 * where it was made.
 *
 * <p>A hold that ends without a release is lost. Its listeners are called once each. It is thrown as
 * {@link LockLostException} by the first call that needs the hold: {@link #refresh()}, {@link #close()}, or an acquire that
 * follows, unless a listener, an interrupt, {@link #isExpired()} or {@link #isAcquired()} has told it; an acquire after that takes
 * the lock anew. {@link #release()} answers false. A hold whose lease is over here is lost, whether or not somebody else has taken
 * it.
 */
public final class Lock implements AutoCloseable {

    private final LockEngine engine;
    private final String resource;
    private final Duration ttl;

    Lock(FactoryContext context, Key key, LockSettings settings, LockEngine.Origin origin) {
        boolean lasts = settings.isRenewed() || context.expiring().isEmpty();
        this.engine = new LockEngine(context, key, settings, origin, lasts ? LeakDetector.watch(this) : null);
        this.resource = key.resource();
        this.ttl = settings.ttl();
    }

    /**
     * Takes the lock exclusively if that is possible now; never waits for another holder.
     *
     * <p>Held already: exclusively, the TTL starts again and the fencing token stays; shared, the hold is promoted if it
     * is the only one, and else is left as it is. Works with the thread's interrupt flag set, and keeps it.
     *
     * @return true if it is held exclusively now; false if another key holds it, if another thread waits with this Lock, or if
     *     it was granted twice, but too late for its TTL, and given back
     * @throws LockLostException if this Lock held it and no longer does, and nobody was told; nothing was taken in its place
     * @throws LockStorageException if the store failed or did not answer; what it may have granted is given back. Also if an
     *     earlier request for this hold to be shared was not answered, and may still demote it: it has to be released before it
     *     can be exclusive
     * @throws IllegalArgumentException if the store cannot keep the TTL; nothing was written
     * @throws IllegalStateException if the factory was closed
     */
    @CheckReturnValue
    public boolean tryAcquire() {
        return tryAcquire(LockMode.EXCLUSIVE);
    }

    /**
     * Takes the lock exclusively, waiting for other holders up to {@code maxWait}.
     *
     * <p>False comes before {@code maxWait} is over in two cases: at once, if this Lock shares the lock and another reader
     * already waits to be promoted, for which this one has to let go first; and when the Lock was closed or released, or the
     * factory closed, while waiting. Do not try again in a loop without looking: {@link #acquire(Duration)} waits
     * likewise, and tells by {@link LockConflictedException#reason()} which it was.
     *
     * @param maxWait how long to wait at the most, on the monotonic clock; zero tries once
     * @return true if it is held exclusively now
     * @throws InterruptedException if the thread was interrupted, before the call or in it; what was held is held still,
     *     and nothing else
     * @throws IllegalArgumentException if {@code maxWait} is negative, or as {@link #tryAcquire()}
     * @throws LockLostException as {@link #tryAcquire()}
     * @throws LockStorageException as {@link #tryAcquire()}
     * @throws IllegalStateException as {@link #tryAcquire()}
     */
    @CheckReturnValue
    public boolean tryAcquire(Duration maxWait) throws InterruptedException {
        return tryAcquire(LockMode.EXCLUSIVE, maxWait);
    }

    /**
     * Takes the lock exclusively, waiting as long as it takes.
     *
     * @return this, for try-with-resources
     * @throws LockConflictedException if it was closed or released by another thread while waiting, or if another reader
     *     already waits to be promoted, so that waiting could only deadlock
     * @throws InterruptedException as {@link #tryAcquire(Duration)}
     * @throws LockLostException as {@link #tryAcquire()}
     * @throws LockStorageException as {@link #tryAcquire()}
     * @throws IllegalArgumentException as {@link #tryAcquire()}
     * @throws IllegalStateException as {@link #tryAcquire()}
     */
    public Lock acquire() throws InterruptedException {
        return acquire(LockMode.EXCLUSIVE, Durations.LONGEST);
    }

    /**
     * Takes the lock exclusively, waiting as long as it takes, whatever the thread's interrupt flag says, and keeps the
     * flag. An interrupt may cost the place in line. A wait is ended by {@link #release()}, {@link #close()} or
     * {@link LockFactory#close()}.
     *
     * @return this, for try-with-resources
     * @throws LockConflictedException as {@link #acquire()}
     * @throws LockLostException as {@link #tryAcquire()}
     * @throws LockStorageException as {@link #tryAcquire()}
     * @throws IllegalArgumentException as {@link #tryAcquire()}
     * @throws IllegalStateException as {@link #tryAcquire()}
     */
    public Lock acquireUninterruptibly() {
        return acquireUninterruptibly(LockMode.EXCLUSIVE);
    }

    /**
     * Takes the lock exclusively, waiting for other holders up to {@code maxWait}.
     *
     * @param maxWait how long to wait at the most, on the monotonic clock; zero tries once
     * @return this, for try-with-resources
     * @throws LockConflictedException if another key still held it after {@code maxWait}, or as {@link #acquire()};
     *     {@link LockConflictedException#reason()} says which
     * @throws InterruptedException as {@link #tryAcquire(Duration)}
     * @throws IllegalArgumentException as {@link #tryAcquire(Duration)}
     * @throws LockLostException as {@link #tryAcquire()}
     * @throws LockStorageException as {@link #tryAcquire()}
     * @throws IllegalStateException as {@link #tryAcquire()}
     */
    public Lock acquire(Duration maxWait) throws InterruptedException {
        return acquire(LockMode.EXCLUSIVE, Durations.checkMaxWait(maxWait));
    }

    /**
     * Takes the lock shared with other readers if that is possible now; never waits for another holder.
     *
     * <p>Held exclusively already: the hold is demoted without a gap. On a store that cannot share, the exclusive lock is
     * taken. Otherwise as {@link #tryAcquire()}.
     *
     * @return true if it is held now; false if another key holds it exclusively, or another thread waits with this Lock
     * @throws LockLostException as {@link #tryAcquire()}
     * @throws LockStorageException if the store failed or did not answer; what it may have granted is given back. An exclusive
     *     hold is then believed to be shared, and stays so until it is released
     * @throws IllegalArgumentException as {@link #tryAcquire()}
     * @throws IllegalStateException as {@link #tryAcquire()}
     */
    @CheckReturnValue
    public boolean tryAcquireShared() {
        return tryAcquire(LockMode.SHARED);
    }

    /**
     * Takes the lock shared with other readers, waiting for an exclusive holder up to {@code maxWait}.
     *
     * @param maxWait how long to wait at the most, on the monotonic clock; zero tries once
     * @return as {@link #tryAcquireShared()}; false before the wait is over only if it was ended by close or release
     * @throws InterruptedException as {@link #tryAcquire(Duration)}
     * @throws IllegalArgumentException as {@link #tryAcquire(Duration)}
     * @throws LockLostException as {@link #tryAcquire()}
     * @throws LockStorageException as {@link #tryAcquireShared()}
     * @throws IllegalStateException as {@link #tryAcquire()}
     */
    @CheckReturnValue
    public boolean tryAcquireShared(Duration maxWait) throws InterruptedException {
        return tryAcquire(LockMode.SHARED, maxWait);
    }

    /**
     * Takes the lock shared with other readers, waiting as long as it takes.
     *
     * @return this, for try-with-resources
     * @throws LockConflictedException if it was closed or released by another thread while waiting
     * @throws InterruptedException as {@link #tryAcquire(Duration)}
     * @throws LockLostException as {@link #tryAcquire()}
     * @throws LockStorageException as {@link #tryAcquireShared()}
     * @throws IllegalArgumentException as {@link #tryAcquire()}
     * @throws IllegalStateException as {@link #tryAcquire()}
     */
    public Lock acquireShared() throws InterruptedException {
        return acquire(LockMode.SHARED, Durations.LONGEST);
    }

    /**
     * Takes the lock shared with other readers, as {@link #acquireUninterruptibly()} does exclusively.
     *
     * @return this, for try-with-resources
     * @throws LockConflictedException as {@link #acquireShared()}
     * @throws LockLostException as {@link #tryAcquire()}
     * @throws LockStorageException as {@link #tryAcquireShared()}
     * @throws IllegalArgumentException as {@link #tryAcquire()}
     * @throws IllegalStateException as {@link #tryAcquire()}
     */
    public Lock acquireSharedUninterruptibly() {
        return acquireUninterruptibly(LockMode.SHARED);
    }

    /**
     * Takes the lock shared with other readers, waiting for an exclusive holder up to {@code maxWait}.
     *
     * @param maxWait how long to wait at the most, on the monotonic clock; zero tries once
     * @return this, for try-with-resources
     * @throws LockConflictedException if another key still held it after {@code maxWait}, or as {@link #acquireShared()}
     * @throws InterruptedException as {@link #tryAcquire(Duration)}
     * @throws IllegalArgumentException as {@link #tryAcquire(Duration)}
     * @throws LockLostException as {@link #tryAcquire()}
     * @throws LockStorageException as {@link #tryAcquireShared()}
     * @throws IllegalStateException as {@link #tryAcquire()}
     */
    public Lock acquireShared(Duration maxWait) throws InterruptedException {
        return acquire(LockMode.SHARED, Durations.checkMaxWait(maxWait));
    }

    /**
     * Starts the TTL of what is held again; never acquires. Where holds do not expire, asks whether it is still held.
     *
     * @return this
     * @throws LockLostException if it is no longer held
     * @throws LockStorageException if the store failed or did not answer; the hold is believed until its old end, or as
     *     {@link #refresh(Duration)} if a longer lease was asked for before
     * @throws IllegalStateException if nothing is held, and nothing was lost
     */
    public Lock refresh() {
        engine.refresh(ttl);
        return this;
    }

    /**
     * Starts a lease of the given length for what is held, once: the next {@link #refresh()} takes the Lock's own TTL.
     *
     * @param once how long from now on, longer or shorter than what is left. A shorter one is believed from the call on
     * @return this
     * @throws IllegalArgumentException if the TTL is out of range; nothing has changed
     * @throws LockLostException as {@link #refresh()}
     * @throws LockStorageException if the store failed or did not answer; the hold is believed until the earlier of its
     *     old end and the one asked for, and after a shorter one no later refresh lets it last longer: the request may
     *     still come to the store
     * @throws IllegalStateException as {@link #refresh()}
     */
    public Lock refresh(Duration once) {
        engine.refresh(Durations.checkTtl(once));
        return this;
    }

    /**
     * As {@link #refresh(Duration)}, and replaces the min hold of what is held: it is kept from others for this long from
     * now on, though it is released sooner.
     *
     * @param once how long from now on
     * @param minHold how long from now on, at the least; zero for not at all. Takes effect with the answer of the store
     * @return this
     * @throws IllegalArgumentException if the TTL is out of range, or the min hold is negative; nothing has changed
     * @throws UnsupportedOperationException if there is a min hold, and the store has no {@link Capability#LEASES}
     * @throws LockLostException as {@link #refresh()}
     * @throws LockStorageException as {@link #refresh(Duration)}; the min hold is the old one
     * @throws IllegalStateException as {@link #refresh()}
     */
    public Lock refresh(Duration once, Duration minHold) {
        engine.refresh(Durations.checkTtl(once), Durations.checkMinHold(minHold));
        return this;
    }

    /**
     * Gives up whatever is held, and ends the wait of another thread with this Lock.
     *
     * <p>Waits for a request of this Lock that is in flight, as long as the store may take to answer.
     *
     * @return true if it was held until now; false if nothing was held, or it was lost: also if its lease is over here and
     *     nobody else has taken it
     * @throws LockStorageException if the store failed or did not answer; this Lock holds nothing then, and what the
     *     store still has ends with its TTL
     */
    public boolean release() {
        return engine.release().kind() == ReleaseResult.Kind.WAS_OURS;
    }

    /**
     * Releases what is held, for try-with-resources; the Lock can be acquired again. A failing store is logged and not
     * thrown, so as not to hide what the body threw.
     *
     * @throws LockLostException if the hold had been lost and no call has thrown that: the body did not run alone
     */
    @Override
    public void close() {
        engine.close();
    }

    /**
     * Asks the store whether this key holds the lock now.
     *
     * @return false if it does not, whoever else may; also once the lease is over here, without asking
     * @throws LockStorageException if the store failed or did not answer
     */
    public boolean isAcquired() {
        return engine.isAcquired();
    }

    /**
     * Tells, without asking the store, whether what was held is over: its lease ended, or it was lost. True also for a
     * Lock made from a key, until its first acquire, refresh or {@link #isAcquired()}.
     *
     * @return false while it is held, before it was first acquired, and after it was released
     */
    public boolean isExpired() {
        return engine.state().isExpired();
    }

    /**
     * Returns what is left of the lease by the local monotonic clock, less a margin for drift, without asking the store.
     *
     * @return zero if nothing is held; empty if it is held and no time bounds it
     */
    public Optional<Duration> remainingLifetime() {
        return engine.remainingLifetime();
    }

    /**
     * Returns the number of this exclusive hold, greater than that of any before it: a guarded resource can refuse
     * whoever comes with a smaller one.
     *
     * @return empty while shared, while nothing is held, and where the store cannot mint a sound one
     */
    public OptionalLong fencingToken() {
        return engine.state().hold().map(Hold::fencingToken).orElse(OptionalLong.empty());
    }

    /**
     * Returns the key with what it holds now, and keeps the ownership. Give it away with {@link #transferKey()}.
     *
     * @return a snapshot; a secret
     */
    public Key key() {
        return engine.state().copy();
    }

    /**
     * Gives the ownership away with the key: this Lock holds nothing afterwards, and neither refreshes nor releases it.
     *
     * <p>Waits for a request of this Lock that is in flight, as long as the store may take to answer.
     *
     * @return the key with what it holds; a secret
     * @throws IllegalStateException if nothing is held
     * @throws LockStorageException if a request that shortens or demotes the hold was not answered, and may still come to the
     *     store when another owns it; nothing has changed
     */
    public Key transferKey() {
        return engine.transferKey()
                .orElseThrow(() -> new IllegalStateException(
                        "lock \"" + LockException.shown(resource) + "\": nothing to hand over, for it is not held"));
    }

    /**
     * Has a listener called when a hold ends without our release, once per hold, on a thread of the factory. If the last
     * hold was lost already, it is called for that one.
     *
     * @param listener told why; keep it short, for all listeners of the factory share one thread
     */
    public void onLost(Consumer<? super LossReason> listener) {
        engine.monitor().listen(Objects.requireNonNull(listener, "listener"));
    }

    /** Returns the resource and what is held, without the token. */
    @Override
    public String toString() {
        return "Lock" + engine.state().key().toString().substring("Key".length());
    }

    private boolean tryAcquire(LockMode mode) {
        try {
            return isGranted(engine.tryAcquire(mode));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    private boolean tryAcquire(LockMode mode, Duration maxWait) throws InterruptedException {
        Duration checked = Durations.checkMaxWait(maxWait);
        try {
            return isGranted(engine.acquire(mode, checked));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    private static boolean isGranted(Acquirer.Outcome outcome) {
        return outcome == Acquirer.Outcome.GRANTED;
    }

    private Lock acquireUninterruptibly(LockMode mode) {
        boolean interrupted = Thread.interrupted();
        try {
            while (true) {
                try {
                    return acquire(mode, Durations.LONGEST);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private Lock acquire(LockMode mode, Duration maxWait) throws InterruptedException {
        return switch (engine.acquire(mode, maxWait)) {
            case GRANTED -> this;
            case CONFLICTED -> throw conflict("another key still held it after " + maxWait, Reason.HELD_BY_ANOTHER);
            case BUSY -> throw conflict("another thread used this Lock for " + maxWait, Reason.BUSY);
            case REFUSED ->
                throw conflict(
                        "another reader already waits to promote: one of the two has to let go first",
                        Reason.PROMOTION_REFUSED);
            case WITHDRAWN -> throw conflict("closed while waiting", Reason.CLOSED_WHILE_WAITING);
            case TOO_LATE ->
                throw conflict(
                        "it was granted, but its TTL of " + ttl + " was over before the answer came; it was given back",
                        Reason.GRANTED_TOO_LATE);
        };
    }

    private LockConflictedException conflict(String problem, Reason reason) {
        return new LockConflictedException(resource, problem, reason);
    }
}
