package dev.latchkey.kotlin

import dev.latchkey.Lock
import dev.latchkey.threads.AsyncResult
import java.util.concurrent.CompletableFuture
import kotlin.coroutines.resumeWithException
import kotlin.time.Duration
import kotlin.time.toJavaDuration
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.future.await
import kotlinx.coroutines.suspendCancellableCoroutine
import kotlinx.coroutines.withContext

/**
 * Acquires the lock exclusively, as [Lock.acquire] does, and suspends while other keys hold it.
 *
 * If the coroutine is cancelled, the wait leaves the queue, and whatever the call has acquired is released, which may be shortly
 * after the coroutine has ended. A hold from before the call stays. [withLock] also releases what the coroutine goes on to hold.
 *
 * A Lock is one owner. Two coroutines that share one do not exclude each other: each needs a Lock of its own.
 *
 * @param maxWait how long to wait at most; zero tries once
 * @return this, held
 * @throws dev.latchkey.LockConflictedException if it was not acquired within [maxWait], or if the Lock was released or closed, or
 *   its factory closed, during the wait
 * @throws dev.latchkey.LockLostException if this Lock held the lock and lost it, and the loss was not reported yet
 * @throws dev.latchkey.LockStorageException if the store failed or did not answer; nothing is held then
 * @throws IllegalArgumentException if [maxWait] is negative, or if the store does not support the TTL
 * @throws IllegalStateException if the factory was closed
 * @throws UnsupportedOperationException if this Lock was created with `interruptOnLoss()`: a coroutine has no thread of its own
 */
public suspend fun Lock.acquireSuspending(maxWait: Duration = Duration.INFINITE): Lock {
    currentCoroutineContext().ensureActive()
    return awaitOrGiveBack(acquireAsync(maxWait.toJavaDuration()))
}

/** Not `await()`, which drops a lock that is granted in the moment of the cancellation. */
private suspend fun awaitOrGiveBack(acquiring: CompletableFuture<Lock>): Lock = suspendCancellableCoroutine { waiting ->
    waiting.invokeOnCancellation { acquiring.cancel(false) }
    acquiring.whenComplete { lock, failure ->
        if (failure == null) {
            waiting.resume(lock) { _, _, _ -> (acquiring as AsyncResult<*>).giveBack() }
        } else {
            waiting.resumeWithException(failure)
        }
    }
}

/**
 * Starts the TTL of the current hold again, as [Lock.refresh] does, and suspends meanwhile. If the coroutine is cancelled, the hold
 * may have been refreshed or not.
 *
 * @return this
 * @throws dev.latchkey.LockLostException if the lock is no longer held
 * @throws dev.latchkey.LockStorageException if the store failed or did not answer; the hold counts until its old end
 * @throws IllegalStateException if nothing is held and nothing was lost
 */
public suspend fun Lock.refreshSuspending(): Lock = refreshAsync().await()

/**
 * Releases the current hold, as [Lock.release] does, and suspends meanwhile. It is released also if the coroutine is cancelled, before
 * the call or during it.
 *
 * @return true if the lock was held until now; false if nothing was held or the hold was lost
 * @throws dev.latchkey.LockStorageException if the store failed or did not answer; this Lock then holds nothing, and what the store
 *   still keeps ends with its TTL
 */
public suspend fun Lock.releaseSuspending(): Boolean = withContext(NonCancellable) { releaseAsync().await() }
