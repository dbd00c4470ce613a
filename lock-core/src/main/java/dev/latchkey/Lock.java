package dev.latchkey;

import dev.latchkey.ActiveLocks.LeakDetector;
import dev.latchkey.LockConflictedException.Reason;
import dev.latchkey.events.AcquireCall.Outcome;
import dev.latchkey.multi.MultiLockStore;
import dev.latchkey.threads.AsyncResult.Done;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A handle that acquires, renews and releases one named lock. Each Lock that is created for a resource is a separate
 * owner: two of them exclude each other, even in one thread. Two Locks with the same {@link Key} are the same owner and
 * share one hold. If one of them releases or demotes it, or asks for it in vain or without an answer, the hold may be gone,
 * which the other learns when it next asks the store. Therefore, use a key with one Lock at a time.
 *
 * <p>Acquiring a lock that is already held renews the hold. Holds are not counted: one release ends the hold.
 *
 * <p>A {@link LockFactory} creates Locks. {@link LockFactory#close()} and a normal exit of the JVM release the hold,
 * unless the Lock was created without auto-release. A Lock that is garbage-collected while it holds something is not
 * released. A hold that the factory renews is renewed further, and a hold without a lease stays; in both cases a warning
 * names the place where the Lock was created. A lease that nobody renews ends with its TTL, without a warning.
 *
 * <p>A hold that ends without a release is lost. It counts as lost when its lease is over on this side, whether or not
 * somebody else has acquired the lock. A loss is reported as follows:
 *
 * <ul>
 * <li>Each listener is called once.
 * <li>{@link #refresh()} and {@link #close()} throw a {@link LockLostException}. {@code close()} does not if a call has
 *     thrown it before.
 * <li>The next acquire throws it if no listener, no interrupt, and neither {@link #isExpired()} nor {@link #isAcquired()}
 *     has reported the loss. Otherwise it acquires the lock again. With {@link LockBuilder#interruptOnLoss()}, a thread that
 *     would have been interrupted, but found the loss by its own call, is told by an acquire also if a listener was called.
 * <li>{@link #release()} returns false.
 * </ul>
 *
 * <p>Thread-safe.
 */
public final class Lock implements AutoCloseable {

    private final LockEngine engine;
    private final String resource;
    private final Duration ttl;
    private final Optional<MultiLockStore> several;
    private final boolean isInterruptedOnLoss;
    private final FactoryContext context;

    Lock(
            FactoryContext context,
            Key key,
            LockSettings settings,
            LockSettings.Origin origin,
            Optional<MultiLockStore> several) {
        boolean lasts = settings.isRenewed() || context.expiring().isEmpty();
        Optional<LeakDetector> leakDetector = lasts ? Optional.of(LeakDetector.watch(this)) : Optional.empty();
        this.engine = new LockEngine(context, key, settings, origin, leakDetector);
        this.resource = key.resource();
        this.ttl = settings.ttl();
        this.several = several;
        this.context = context;
        this.isInterruptedOnLoss = settings.onLoss() == LockSettings.OnLoss.IS_INTERRUPTED;
    }

    /**
     * Acquires the lock exclusively if that is possible now. Does not wait for another holder, with one exception: if the
     * lock is only kept for a {@linkplain LockBuilder#sticky sticky} Lock elsewhere, the call waits at most 50 ms for that
     * process to give it up.
     *
     * <p>If this Lock holds it exclusively already, the TTL starts again and the fencing token stays the same. If this
     * Lock holds it shared, the hold is promoted if it is the only one; otherwise it stays shared. The call works with
     * the thread's interrupt flag set, and keeps the flag.
     *
     * @return true if the lock is held exclusively now; false if another key holds it, if another thread waits with this
     *     Lock, or if it was granted twice, each time too late for its TTL, and was given back
     * @throws LockLostException if this Lock held the lock and lost it, and the loss was not reported yet; nothing was
     *     acquired in its place
     * @throws LockStorageException if the store failed or did not answer; anything that it may have granted is given
     *     back. Also if an earlier request for a shared hold was not answered and may still demote this hold: release it
     *     before you acquire exclusively
     * @throws IllegalArgumentException if the store does not support the TTL; nothing was written
     * @throws IllegalStateException if the factory was closed
     */
    @CheckReturnValue
    public boolean tryAcquire() {
        return tryAcquire(LockMode.EXCLUSIVE);
    }

    /**
     * Acquires the lock exclusively, and waits up to {@code maxWait} while other keys hold it.
     *
     * <p>The call returns false before {@code maxWait} is over in two cases: at once, if this Lock holds the lock shared
     * and another reader already waits for promotion, so that this one has to be released first; and if the Lock is
     * closed or released, its key transferred, or the factory closed, during the wait. Do not retry in a loop without a
     * check: {@link #acquire(Duration)} waits in the same way and reports the case with
     * {@link LockConflictedException#reason()}.
     *
     * @param maxWait how long to wait at most, on the monotonic clock; zero tries once, as {@link #tryAcquire()} does
     * @return true if the lock is held exclusively now
     * @throws InterruptedException if the thread was interrupted before or during the call; a hold from before the call
     *     stays, and nothing else is held
     * @throws IllegalArgumentException if {@code maxWait} is negative, or if the store does not support the TTL; nothing
     *     was written
     * @throws LockLostException if this Lock held the lock and lost it, and the loss was not reported yet; nothing was
     *     acquired in its place
     * @throws LockStorageException if the store failed or did not answer; anything that it may have granted is given
     *     back. Also if an earlier request for a shared hold was not answered and may still demote this hold: release it
     *     before you acquire exclusively
     * @throws IllegalStateException if the factory was closed
     */
    @CheckReturnValue
    public boolean tryAcquire(Duration maxWait) throws InterruptedException {
        return tryAcquire(LockMode.EXCLUSIVE, maxWait);
    }

    /**
     * Acquires the lock exclusively, and waits without a limit.
     *
     * @return this, for try-with-resources
     * @throws LockConflictedException if another thread closed or released this Lock, transferred its key, or closed its
     *     factory, during the wait; or if another reader already waits for promotion, so that this wait would be a deadlock
     * @throws InterruptedException if the thread was interrupted before or during the call; a hold from before the call
     *     stays, and nothing else is held
     * @throws LockLostException if this Lock held the lock and lost it, and the loss was not reported yet; nothing was
     *     acquired in its place
     * @throws LockStorageException if the store failed or did not answer; anything that it may have granted is given
     *     back. Also if an earlier request for a shared hold was not answered and may still demote this hold: release it
     *     before you acquire exclusively
     * @throws IllegalArgumentException if the store does not support the TTL; nothing was written
     * @throws IllegalStateException if the factory was closed
     */
    public Lock acquire() throws InterruptedException {
        return acquire(LockMode.EXCLUSIVE, LockSettings.LONGEST);
    }

    /**
     * Acquires the lock exclusively, and waits without a limit and regardless of interrupts. The interrupt flag is kept.
     * An interrupt may cost the place in the queue. {@link #release()}, {@link #close()} and {@link LockFactory#close()}
     * end the wait.
     *
     * @return this, for try-with-resources
     * @throws LockConflictedException if another thread closed or released this Lock, transferred its key, or closed its
     *     factory, during the wait; or if another reader already waits for promotion, so that this wait would be a deadlock
     * @throws LockLostException if this Lock held the lock and lost it, and the loss was not reported yet; nothing was
     *     acquired in its place
     * @throws LockStorageException if the store failed or did not answer; anything that it may have granted is given
     *     back. Also if an earlier request for a shared hold was not answered and may still demote this hold: release it
     *     before you acquire exclusively
     * @throws IllegalArgumentException if the store does not support the TTL; nothing was written
     * @throws IllegalStateException if the factory was closed
     */
    public Lock acquireUninterruptibly() {
        return acquireUninterruptibly(LockMode.EXCLUSIVE);
    }

    /**
     * Acquires the lock exclusively, and waits up to {@code maxWait} while other keys hold it.
     *
     * @param maxWait how long to wait at most, on the monotonic clock; zero tries once, as {@link #tryAcquire()} does
     * @return this, for try-with-resources
     * @throws LockConflictedException if the lock was not acquired within {@code maxWait}; if another thread closed or
     *     released this Lock, transferred its key, or closed its factory, during the wait; or if another reader already
     *     waits for promotion, so that this wait would be a deadlock. {@link LockConflictedException#reason()} says which
     * @throws InterruptedException if the thread was interrupted before or during the call; a hold from before the call
     *     stays, and nothing else is held
     * @throws IllegalArgumentException if {@code maxWait} is negative, or if the store does not support the TTL; nothing
     *     was written
     * @throws LockLostException if this Lock held the lock and lost it, and the loss was not reported yet; nothing was
     *     acquired in its place
     * @throws LockStorageException if the store failed or did not answer; anything that it may have granted is given
     *     back. Also if an earlier request for a shared hold was not answered and may still demote this hold: release it
     *     before you acquire exclusively
     * @throws IllegalStateException if the factory was closed
     */
    public Lock acquire(Duration maxWait) throws InterruptedException {
        return acquire(LockMode.EXCLUSIVE, LockSettings.checkMaxWait(maxWait));
    }

    /**
     * Acquires the lock exclusively, as {@link #acquire(Duration)} does, without making the caller wait.
     *
     * <p>To cancel the result, or to complete it in any other way, ends the wait: its place in the queue is given up, and
     * what may be granted at that moment is released. A hold from before the call stays. The result completes on a thread
     * of the factory, where dependent actions may wait. Two acquires of one Lock come one after the other. A
     * {@link #release()} ends the wait if it has begun, which may be after this returns: to cancel ends it always.
     *
     * @param maxWait how long to wait at most, on the monotonic clock; zero tries once, as {@link #tryAcquire()} does
     * @return completes with this, once the lock is held exclusively; or exceptionally, with what
     *     {@link #acquire(Duration)} throws
     * @throws IllegalArgumentException if {@code maxWait} is negative
     * @throws UnsupportedOperationException if this Lock was created with {@link LockBuilder#interruptOnLoss()}: there is no
     *     thread to interrupt. Use a listener
     */
    public CompletableFuture<Lock> acquireAsync(Duration maxWait) {
        Duration checked = LockSettings.checkMaxWait(maxWait);
        if (isInterruptedOnLoss) {
            throw new UnsupportedOperationException("lock \"" + LockException.shown(resource)
                    + "\": interruptOnLoss() has no thread to interrupt after an asynchronous acquire: use onLost()");
        }
        return context.threads()
                .asyncCalls()
                .start(withdrawn -> AsyncAcquire.start(context, engine, LockMode.EXCLUSIVE, checked, withdrawn)
                        .thenApply(ended -> new Done<>(
                                acquired(ended.outcome(), checked),
                                () -> AsyncAcquire.giveBack(engine, ended.hold()))));
    }

    /**
     * Acquires the lock shared with other readers if that is possible now. Does not wait for another holder, except as
     * {@link #tryAcquire()} does.
     *
     * <p>If this Lock holds it exclusively, the hold is demoted without a gap. If this Lock holds it shared already, the
     * TTL starts again. On a store without shared locks, the exclusive lock is acquired. The call works with the thread's
     * interrupt flag set, and keeps the flag.
     *
     * @return true if the lock is held now; false if another key holds it exclusively, if another thread waits with this
     *     Lock, or if it was granted twice, each time too late for its TTL, and was given back
     * @throws LockLostException if this Lock held the lock and lost it, and the loss was not reported yet; nothing was
     *     acquired in its place
     * @throws LockStorageException if the store failed or did not answer; anything that it may have granted is given
     *     back. An exclusive hold then counts as shared until it is released, unless the request was not sent
     * @throws IllegalArgumentException if the store does not support the TTL; nothing was written
     * @throws IllegalStateException if the factory was closed
     */
    @CheckReturnValue
    public boolean tryAcquireShared() {
        return tryAcquire(LockMode.SHARED);
    }

    /**
     * Acquires the lock shared with other readers, and waits up to {@code maxWait} while another key holds it
     * exclusively.
     *
     * @param maxWait how long to wait at most, on the monotonic clock; zero tries once, as {@link #tryAcquireShared()}
     *     does
     * @return true if the lock is held now; false before {@code maxWait} is over only if the Lock was closed or released,
     *     its key transferred, or the factory closed, during the wait
     * @throws InterruptedException if the thread was interrupted before or during the call; a hold from before the call
     *     stays, and nothing else is held
     * @throws IllegalArgumentException if {@code maxWait} is negative, or if the store does not support the TTL; nothing
     *     was written
     * @throws LockLostException if this Lock held the lock and lost it, and the loss was not reported yet; nothing was
     *     acquired in its place
     * @throws LockStorageException if the store failed or did not answer; anything that it may have granted is given
     *     back. An exclusive hold then counts as shared until it is released, unless the request was not sent
     * @throws IllegalStateException if the factory was closed
     */
    @CheckReturnValue
    public boolean tryAcquireShared(Duration maxWait) throws InterruptedException {
        return tryAcquire(LockMode.SHARED, maxWait);
    }

    /**
     * Acquires the lock shared with other readers, and waits without a limit.
     *
     * @return this, for try-with-resources
     * @throws LockConflictedException if another thread closed or released this Lock, transferred its key, or closed its
     *     factory, during the wait
     * @throws InterruptedException if the thread was interrupted before or during the call; a hold from before the call
     *     stays, and nothing else is held
     * @throws LockLostException if this Lock held the lock and lost it, and the loss was not reported yet; nothing was
     *     acquired in its place
     * @throws LockStorageException if the store failed or did not answer; anything that it may have granted is given
     *     back. An exclusive hold then counts as shared until it is released, unless the request was not sent
     * @throws IllegalArgumentException if the store does not support the TTL; nothing was written
     * @throws IllegalStateException if the factory was closed
     */
    public Lock acquireShared() throws InterruptedException {
        return acquire(LockMode.SHARED, LockSettings.LONGEST);
    }

    /**
     * Acquires the lock shared with other readers, and waits without a limit and regardless of interrupts. The interrupt
     * flag is kept. An interrupt may cost the place in the queue. {@link #release()}, {@link #close()} and
     * {@link LockFactory#close()} end the wait.
     *
     * @return this, for try-with-resources
     * @throws LockConflictedException if another thread closed or released this Lock, transferred its key, or closed its
     *     factory, during the wait
     * @throws LockLostException if this Lock held the lock and lost it, and the loss was not reported yet; nothing was
     *     acquired in its place
     * @throws LockStorageException if the store failed or did not answer; anything that it may have granted is given
     *     back. An exclusive hold then counts as shared until it is released, unless the request was not sent
     * @throws IllegalArgumentException if the store does not support the TTL; nothing was written
     * @throws IllegalStateException if the factory was closed
     */
    public Lock acquireSharedUninterruptibly() {
        return acquireUninterruptibly(LockMode.SHARED);
    }

    /**
     * Acquires the lock shared with other readers, and waits up to {@code maxWait} while another key holds it
     * exclusively.
     *
     * @param maxWait how long to wait at most, on the monotonic clock; zero tries once, as {@link #tryAcquireShared()}
     *     does
     * @return this, for try-with-resources
     * @throws LockConflictedException if the lock was not acquired within {@code maxWait}, or if another thread closed or
     *     released this Lock, transferred its key, or closed its factory, during the wait.
     *     {@link LockConflictedException#reason()} says which
     * @throws InterruptedException if the thread was interrupted before or during the call; a hold from before the call
     *     stays, and nothing else is held
     * @throws IllegalArgumentException if {@code maxWait} is negative, or if the store does not support the TTL; nothing
     *     was written
     * @throws LockLostException if this Lock held the lock and lost it, and the loss was not reported yet; nothing was
     *     acquired in its place
     * @throws LockStorageException if the store failed or did not answer; anything that it may have granted is given
     *     back. An exclusive hold then counts as shared until it is released, unless the request was not sent
     * @throws IllegalStateException if the factory was closed
     */
    public Lock acquireShared(Duration maxWait) throws InterruptedException {
        return acquire(LockMode.SHARED, LockSettings.checkMaxWait(maxWait));
    }

    /**
     * Starts the TTL of the current hold again. Never acquires. On a store without leases, it checks whether the lock is
     * still held.
     *
     * @return this
     * @throws LockLostException if the lock is no longer held
     * @throws LockStorageException if the store failed or did not answer; the hold counts until its old end. After a
     *     {@link #refresh(Duration)} with a longer lease, it counts until the earlier of its old end and the new one, and
     *     no later refresh extends it: the request may still reach the store
     * @throws IllegalStateException if nothing is held and nothing was lost
     */
    public Lock refresh() {
        engine.held().refresh(ttl);
        return this;
    }

    /**
     * Starts a lease of the given length for the current hold, once. The next {@link #refresh()} uses the Lock's own TTL
     * again.
     *
     * @param once the length of the lease from now on, longer or shorter than the rest of the current one. A shorter
     *     lease counts from the start of the call
     * @return this
     * @throws IllegalArgumentException if {@code once} is out of range; nothing has changed
     * @throws LockLostException if the lock is no longer held
     * @throws LockStorageException if the store failed or did not answer; the hold counts until the earlier of its old
     *     end and the requested one. After a request for a shorter lease, no later refresh extends the hold beyond that
     *     end: the request may still reach the store
     * @throws IllegalStateException if nothing is held and nothing was lost
     */
    public Lock refresh(Duration once) {
        engine.held().refresh(LockSettings.checkTtl(once));
        return this;
    }

    /**
     * Starts a lease of the given length for the current hold, once, and replaces its minimum hold time: other keys
     * cannot acquire the lock for this long from now on, even if it is released sooner. The next {@link #refresh()} uses
     * the Lock's own TTL again.
     *
     * @param once the length of the lease from now on, longer or shorter than the rest of the current one. A shorter
     *     lease counts from the start of the call
     * @param minHold the minimum hold time from now on; zero for none. It takes effect with the answer of the store
     * @return this
     * @throws IllegalArgumentException if {@code once} is out of range or {@code minHold} is negative; nothing has
     *     changed
     * @throws UnsupportedOperationException if {@code minHold} is not zero and the store has no {@link Capability#LEASES}
     * @throws LockLostException if the lock is no longer held
     * @throws LockStorageException if the store failed or did not answer; the minimum hold time is the old one, and the
     *     hold counts until the earlier of its old end and the requested one. After a request for a shorter lease, no
     *     later refresh extends the hold beyond that end: the request may still reach the store
     * @throws IllegalStateException if nothing is held and nothing was lost
     */
    public Lock refresh(Duration once, Duration minHold) {
        engine.held().refresh(LockSettings.checkTtl(once), LockSettings.checkMinHold(minHold));
        return this;
    }

    /**
     * Releases the current hold, and ends the wait of another thread with this Lock.
     *
     * <p>The call waits for a request of this Lock that is in flight, for as long as the store may take to answer.
     *
     * @return true if the lock was held until now; false if nothing was held or the hold was lost, even if its lease has
     *     only just ended and nobody else has acquired the lock
     * @throws LockStorageException if the store failed or did not answer; this Lock then holds nothing, and what the
     *     store still keeps ends with its TTL
     */
    public boolean release() {
        return engine.held().release().kind() == Releaser.Result.Kind.WAS_OURS;
    }

    /**
     * Starts the TTL of the current hold again, as {@link #refresh()} does, without making the caller wait.
     *
     * @return completes with this; or exceptionally, with what {@link #refresh()} throws. To cancel it undoes nothing
     */
    public CompletableFuture<Lock> refreshAsync() {
        return context.threads()
                .asyncCalls()
                .start(withdrawn -> CompletableFuture.completedFuture(new Done<>(refresh(), () -> {})));
    }

    /**
     * Releases the current hold, as {@link #release()} does, without making the caller wait. A wait of another thread or of
     * {@link #acquireAsync} ends as well.
     *
     * @return completes with the result of {@link #release()}; or exceptionally, with what it throws. To cancel it prevents
     *     nothing
     */
    public CompletableFuture<Boolean> releaseAsync() {
        return context.threads().asyncCalls().startForGood(this::release);
    }

    /**
     * Releases the current hold, as {@link #close()} does, without making the caller wait. A wait of another thread or of
     * {@link #acquireAsync} ends as well. The Lock can be acquired again.
     *
     * @return completes with null, also if the store fails, which is logged; or exceptionally, with a {@link LockLostException}
     *     if the hold was lost and no call has thrown this yet. To cancel it prevents nothing
     */
    public CompletableFuture<@Nullable Void> closeAsync() {
        return context.threads().asyncCalls().startForGood(() -> {
            close();
            return null;
        });
    }

    /**
     * Releases the current hold, for try-with-resources. The Lock can be acquired again. If the store fails, this is
     * logged and not thrown, so that it does not hide an exception of the body.
     *
     * @throws LockLostException if the hold was lost and no call has thrown this yet: the body did not run exclusively
     */
    @Override
    public void close() {
        engine.held().close();
    }

    /**
     * Asks the store whether this key holds the lock now.
     *
     * @return false if it does not, whether or not another key does. Also false, without asking, if the lease is over on
     *     this side
     * @throws LockStorageException if the store failed or did not answer, and the hold is not known to be lost
     */
    public boolean isAcquired() {
        return engine.held().isAcquired();
    }

    /**
     * Returns whether the hold is over because its lease ended or it was lost, without asking the store. Also returns
     * true for a Lock that was created from a key, until its first acquire, refresh or {@link #isAcquired()}.
     *
     * @return false while the lock is held, before it was first acquired, and after it was released
     */
    public boolean isExpired() {
        return engine.state().isExpired();
    }

    /**
     * Returns the rest of the lease by the local monotonic clock, minus a margin for clock drift, without asking the
     * store.
     *
     * @return zero if nothing is held; empty if the lock is held without a time limit
     */
    public Optional<Duration> remainingLifetime() {
        return engine.state().hold().map(Hold::remaining).orElse(Optional.of(Duration.ZERO));
    }

    /**
     * Returns the fencing token of this exclusive hold: a number greater than that of every earlier exclusive hold. A
     * protected resource can refuse requests with a smaller number than it has seen.
     *
     * <p>A hold that this Lock has lost only by its own clock, and the store has not ended yet, may go on when this Lock acquires
     * again with the same key. Nobody else has held it in between, and its token is the same.
     *
     * @return empty if the lock is held shared or not held, if the store cannot provide a reliable token, or if this is a
     *     Lock of {@linkplain LockFactory#all several resources}, which has {@link #fencingTokens()}
     */
    public OptionalLong fencingToken() {
        return engine.state().hold().map(Hold::fencingToken).orElse(OptionalLong.empty());
    }

    /**
     * Returns the fencing token of each resource of this exclusive hold, as {@link #fencingToken()} does for a Lock of one
     * resource.
     *
     * @return by resource, unmodifiable; empty if the lock is held shared or not held, or if the store cannot provide
     *     reliable tokens
     */
    public Map<String, Long> fencingTokens() {
        if (several.isPresent()) {
            boolean isHeld = engine.state().hold().isPresent();
            return isHeld ? several.get().fencingTokens() : Map.of();
        }
        OptionalLong token = fencingToken();
        return token.isPresent() ? Map.of(resource, token.getAsLong()) : Map.of();
    }

    /**
     * Returns the key with the current hold. This Lock stays the owner; use {@link #transferKey()} to transfer ownership.
     *
     * @return a snapshot; keep it secret
     * @throws UnsupportedOperationException if this is a Lock of {@linkplain LockFactory#all several resources}
     */
    public Key key() {
        checkHasKey();
        return context.handedOut(engine.state().copy());
    }

    /**
     * Transfers ownership to whoever receives the returned key. This Lock holds nothing afterwards, and does not refresh
     * or release the hold.
     *
     * <p>The call ends the wait of another thread with this Lock, also if nothing is held. It waits for a request of this
     * Lock that is in flight, for as long as the store may take to answer.
     *
     * @return the key with the hold; keep it secret
     * @throws UnsupportedOperationException if this is a Lock of {@linkplain LockFactory#all several resources}
     * @throws IllegalStateException if nothing is held
     * @throws LockStorageException if a request that shortens or demotes the hold was not answered, and may still reach
     *     the store when the new owner has the key; nothing has changed
     */
    public Key transferKey() {
        checkHasKey();
        return engine.held()
                .transferKey()
                .orElseThrow(() -> new IllegalStateException(
                        "lock \"" + LockException.shown(resource) + "\": nothing to transfer: it is not held"));
    }

    /**
     * Adds a listener that is called once per hold if the hold ends without a release by this Lock. It is called on a
     * thread of the factory. If the last hold was lost before this call, the listener is called for it.
     *
     * @param listener receives the reason. It must return soon, because all listeners of the factory share one thread
     */
    public void onLost(Consumer<? super LossReason> listener) {
        engine.held().listen(Objects.requireNonNull(listener, "listener"));
    }

    /** Returns the resource and what is held, without the token. */
    @Override
    public String toString() {
        return "Lock" + engine.state().key().toString().substring("Key".length());
    }

    private void checkHasKey() {
        if (several.isPresent()) {
            throw new UnsupportedOperationException(
                    "lock \"" + LockException.shown(resource) + "\": a Lock of several resources has no key");
        }
    }

    private boolean tryAcquire(LockMode mode) {
        try {
            return isGranted(engine.tryAcquire(mode));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    private boolean tryAcquire(LockMode mode, Duration maxWait) throws InterruptedException {
        Duration checked = LockSettings.checkMaxWait(maxWait);
        try {
            return isGranted(engine.acquire(mode, checked, new CompletableFuture<>()));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    private static boolean isGranted(Outcome outcome) {
        return outcome == Outcome.GRANTED;
    }

    private Lock acquireUninterruptibly(LockMode mode) {
        boolean interrupted = Thread.interrupted();
        try {
            while (true) {
                try {
                    return acquire(mode, LockSettings.LONGEST);
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
        return acquired(engine.acquire(mode, maxWait, new CompletableFuture<>()), maxWait);
    }

    private Lock acquired(Outcome outcome, Duration maxWait) {
        return switch (outcome) {
            case GRANTED -> this;
            case CONFLICTED -> throw conflict("another key still held it after " + maxWait, Reason.HELD_BY_ANOTHER);
            case BUSY -> throw conflict("another thread used this Lock for " + maxWait, Reason.BUSY);
            case REFUSED ->
                throw conflict(
                        "another reader already waits for promotion: one of the two must release its shared hold first",
                        Reason.PROMOTION_REFUSED);
            case WITHDRAWN -> throw conflict("closed while waiting", Reason.CLOSED_WHILE_WAITING);
            case TOO_LATE ->
                throw conflict(
                        "it was granted, but its TTL of " + ttl + " ended before the answer arrived; it was given back",
                        Reason.GRANTED_TOO_LATE);
            case IN_DOUBT -> throw new IllegalStateException("a wait does not end in doubt");
        };
    }

    private LockConflictedException conflict(String problem, Reason reason) {
        return new LockConflictedException(resource, problem, reason);
    }

    /** Static checkers know this annotation by its simple name: the result must not be ignored. */
    @Retention(RetentionPolicy.CLASS)
    @Target(ElementType.METHOD)
    private @interface CheckReturnValue {}
}
