package dev.latchkey.kotlin

import dev.latchkey.Lock
import dev.latchkey.LockBuilder
import dev.latchkey.LockLostException
import dev.latchkey.LossReason
import kotlin.time.Duration
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.cancel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.future.await
import kotlinx.coroutines.isActive
import kotlinx.coroutines.withContext

/**
 * Runs [block] under a new Lock of this builder: acquires it, suspending for up to [maxWait] while others hold it, and releases it
 * after the block and all coroutines that were started in it have ended, whichever way they end.
 *
 * ```
 * locks.lock("invoice:42").ttl(30.seconds.toJavaDuration()).autoRefresh().withLock(10.seconds) { lock ->
 *     …
 * }
 * ```
 *
 * Each call creates a Lock, and so is an owner of its own: calls in several coroutines exclude each other, also over one builder, and a
 * call for the same resource inside of the block waits for itself. With `LockFactory.permits` it acquires permits of a semaphore, and
 * with `LockFactory.all` several locks at once.
 *
 * If the caller is cancelled while it waits, the wait leaves the queue; if it is cancelled in the block, the lock is released before
 * this ends. If the lock is lost, the block is cancelled, and this throws a [LockLostException] once the block has ended: code
 * that does not suspend, or that catches the cancellation, goes on meanwhile. If the block fails by itself, its exception is thrown, and
 * a loss is a suppressed exception of that.
 *
 * @param maxWait how long to wait at most; zero tries once
 * @param block what to do while the lock is held, in a scope that is cancelled if the lock is lost; it gets the held Lock
 * @return what the block returns
 * @throws LockLostException if the lock was lost before the block had ended
 * @throws dev.latchkey.LockConflictedException if it was not acquired within [maxWait]; the block was not started
 * @throws dev.latchkey.LockStorageException if the store failed or did not answer; the block was not started. A release that fails is
 *   logged
 * @throws IllegalArgumentException if [maxWait] is negative, or if the store does not support the TTL
 * @throws IllegalStateException if the factory was closed
 * @throws UnsupportedOperationException if the builder has `interruptOnLoss()`: the block is cancelled instead, without being asked to
 */
public suspend fun <T> LockBuilder.withLock(
    maxWait: Duration = Duration.INFINITE,
    block: suspend CoroutineScope.(lock: Lock) -> T,
): T {
    val lock = create().acquireSuspending(maxWait)
    val result =
        try {
            lock.whileHeld(block)
        } catch (failure: Throwable) {
            throw lock.closedAfter(failure)
        }
    lock.closeSuspending()
    return result
}

private suspend fun <T> Lock.whileHeld(block: suspend CoroutineScope.(lock: Lock) -> T): T = coroutineScope {
    onLost { reason -> cancel(LossCancellation(this@whileHeld, reason)) }
    block(this@whileHeld)
}

/** The end of a block whose lock is lost. To its caller it is a failure, for nobody has cancelled that one. */
private class LossCancellation(val lock: Lock, val reason: LossReason) :
    CancellationException("the lock is lost: $reason")

/** Releases after a failure of the block, and returns what to throw. */
private suspend fun Lock.closedAfter(failure: Throwable): Throwable {
    val isCancelledByLoss =
        failure is LossCancellation && failure.lock === this && currentCoroutineContext().isActive
    return withContext(NonCancellable) {
        // Before it is closed, because a refresh throws the loss also if the block has seen it already.
        val loss = if (isCancelledByLoss) lossAfter(failure) else null
        val shown = loss ?: failureOf { closeAsync().await() }
        if (loss != null) {
            closeSuspending()
        }
        when {
            shown == null || shown === failure -> failure
            isCancelledByLoss -> shown.apply { addSuppressed(failure) }
            else -> failure.apply { addSuppressed(shown) }
        }
    }
}

/** The loss as the Lock tells of it; it knows of none any more if the block has released, closed or acquired it since. */
private suspend fun Lock.lossAfter(cancellation: LossCancellation): LockLostException =
    failureOf { refreshAsync().await() } as? LockLostException
        ?: LockLostException(name(), "it was lost while a block ran under it", cancellation.reason)

/** The resource; a Lock of several has no key to name it. */
private fun Lock.name(): String =
    try {
        key().resource()
    } catch (several: UnsupportedOperationException) {
        toString()
    }

private suspend fun failureOf(call: suspend () -> Unit): Throwable? =
    try {
        call()
        null
    } catch (failure: Throwable) {
        failure
    }

private suspend fun Lock.closeSuspending() {
    withContext(NonCancellable) { closeAsync().await() }
}
