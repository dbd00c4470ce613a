package dev.latchkey.kotlin

import dev.latchkey.Capability
import dev.latchkey.Lock
import dev.latchkey.LockBuilder
import dev.latchkey.LockConflictedException
import dev.latchkey.LockFactory
import dev.latchkey.LockLostException
import dev.latchkey.LossReason
import dev.latchkey.spi.PersistingStore
import dev.latchkey.testkit.Fixture.LONG_TTL
import dev.latchkey.testkit.TimeLimits.LIMIT
import java.util.UUID
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicReference
import java.util.concurrent.locks.LockSupport
import kotlin.coroutines.CoroutineContext
import kotlin.random.Random
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.toKotlinDuration
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.TimeoutCancellationException
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.isActive
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.yield
import org.assertj.core.api.Assertions.assertThat
import org.awaitility.Awaitility
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test

/** Coroutines hold locks for as long as their blocks run, and leave nothing when they are cancelled. */
abstract class CoroutineLockContract {

    private val resource = "coroutines-" + UUID.randomUUID()
    private lateinit var store: PersistingStore
    private lateinit var locks: LockFactory

    abstract fun open(): PersistingStore

    @BeforeEach
    fun openStore() {
        store = open()
        locks = LockFactory(store)
    }

    @AfterEach
    fun closeStore() {
        locks.close()
        store.close()
    }

    @Test
    fun givenFree_whenABlockRuns_thenHeldInsideAndFreeAfterwards() = test {
        val token =
            builder().withLock { lock ->
                assertThat(lock.isAcquired).isTrue()
                assertThat(lock().tryAcquire()).isFalse()
                lock.fencingToken().asLong
            }

        assertThat(token).isPositive()
        assertThat(lock().tryAcquire()).isTrue()
    }

    @Test
    fun givenTheBlockFails_thenItsExceptionIsThrownAndItIsFree() = test {
        assertThat(failureOf { builder().withLock { throw PlannedException() } })
            .isInstanceOf(PlannedException::class.java)

        assertThat(lock().tryAcquire()).isTrue()
    }

    @Test
    fun givenHeldByAnother_whenItIsReleased_thenTheBlockRuns() = test {
        val holder = held()
        val waiting = async { builder().withLock { "ran" } }

        assertThat(holder.releaseSuspending()).isTrue()

        assertThat(waiting.await()).isEqualTo("ran")
    }

    @Test
    fun givenHeldByAnother_whenTheMaxWaitIsOver_thenAConflictAndTheBlockDoesNotRun() = test {
        held()

        for (maxWait in listOf(Duration.ZERO, 50.milliseconds)) {
            assertThat(failureOf { builder().withLock(maxWait) { error("ran") } })
                .isInstanceOf(LockConflictedException::class.java)
        }
    }

    @Test
    fun givenANegativeMaxWait_thenRefused() = test {
        assertThat(failureOf { lock().acquireSuspending((-1).nanoseconds) })
            .isInstanceOf(IllegalArgumentException::class.java)
    }

    @Test
    fun givenItInterruptsOnLoss_thenRefused() = test {
        assertThat(failureOf { builder().interruptOnLoss().withLock {} })
            .isInstanceOf(UnsupportedOperationException::class.java)
    }

    @Test
    fun givenWaiting_whenCancelled_thenItLeavesTheLine() = test {
        val holder = held()
        val waiting = launch { builder().withLock { error("ran") } }
        val next = async { builder().withLock { "ran" } }
        awaitWaiters(2)

        waiting.cancelAndJoin()
        holder.releaseSuspending()

        assertThat(next.await()).isEqualTo("ran")
        assertThat(lock().tryAcquire(LIMIT)).isTrue()
    }

    @Test
    fun givenCancelledBefore_thenNothingIsAsked() = test {
        val holder = held()
        val cancelled =
            launch(start = CoroutineStart.UNDISPATCHED) {
                runCatching { awaitCancellation() }
                builder().withLock { error("ran") }
            }
        cancelled.cancelAndJoin()

        assertThat(locks.supports(Capability.WAITERS)).isTrue()
        assertThat(locks.waiters(resource)).isEmpty()
        holder.releaseSuspending()
    }

    @Test
    fun givenInTheBlock_whenCancelled_thenReleasedBeforeTheCoroutineEnds() = test {
        val inside = CompletableDeferred<Unit>()
        val working = launch {
            builder().withLock {
                inside.complete(Unit)
                awaitCancellation()
            }
        }
        inside.await()

        working.cancelAndJoin()

        assertThat(lock().tryAcquire()).isTrue()
    }

    @Test
    fun givenCoroutinesStartedInTheBlock_thenHeldUntilTheyHaveEnded() = test {
        val inside = CompletableDeferred<Unit>()
        val leave = CompletableDeferred<Unit>()
        val working = launch {
            builder().withLock {
                launch {
                    inside.complete(Unit)
                    leave.await()
                }
            }
        }
        inside.await()
        assertThat(lock().tryAcquire(java.time.Duration.ofMillis(100))).isFalse()

        leave.complete(Unit)
        working.join()

        assertThat(lock().tryAcquire()).isTrue()
    }

    @Test
    fun givenATimeoutInTheBlock_thenItIsThrownAsItIsAndFree() = test {
        assertThat(failureOf { builder().withLock { withTimeout(1.milliseconds) { awaitCancellation() } } })
            .isInstanceOf(TimeoutCancellationException::class.java)

        assertThat(lock().tryAcquire()).isTrue()
    }

    @Test
    fun givenInTheBlock_whenTheLockIsLost_thenTheBlockIsCancelledAndTheCallerIsTold() = test {
        val failure = failureOf {
            builder().autoRefresh().withLock { lock ->
                lose(lock)
                awaitCancellation()
            }
        }

        assertThat(failure).isInstanceOf(LockLostException::class.java)
        assertThat((failure as LockLostException).reason()).isNotNull()
        assertThat(isActive).isTrue()
        assertThat(lock().tryAcquire()).isTrue()
    }

    @Test
    fun givenTheBlockCatchesTheCancellation_whenTheLockIsLost_thenTheCallerIsToldAllTheSame() = test {
        val failure = failureOf {
            builder().withLock { lock ->
                lose(lock)
                runCatching { awaitCancellation() }
            }
        }

        assertThat(failure).isInstanceOf(LockLostException::class.java)
    }

    @Test
    fun givenTheBlockHasSeenTheLoss_whenItGoesOnAndIsCancelled_thenTheCallerIsToldAllTheSame() = test {
        val failure = failureOf {
            builder().withLock { lock ->
                lose(lock)
                assertThat(failureOf { withContext(NonCancellable) { lock.refreshSuspending() } })
                    .isInstanceOf(LockLostException::class.java)
                awaitCancellation()
            }
        }

        assertThat(failure).isInstanceOf(LockLostException::class.java)
    }

    /** Each leaves a Lock that knows of no loss any more. */
    @Test
    fun givenTheLockIsLost_whenTheBlockReleasesClosesOrAcquiresIt_thenTheCallerIsToldAllTheSame() = test {
        val ends =
            mapOf<String, suspend (Lock) -> Unit>(
                "release" to { it.releaseSuspending() },
                "close" to { it.close() },
                "refresh and acquire" to { lock ->
                    failureOf { withContext(NonCancellable) { lock.refreshSuspending() } }
                    withContext(NonCancellable) { lock.acquireSuspending() }
                },
            )
        for ((name, end) in ends) {
            val failure = failureOf {
                builder().withLock { lock ->
                    lose(lock)
                    try {
                        awaitCancellation()
                    } finally {
                        end(lock)
                    }
                }
            }

            assertThat(failure).`as`(name).isInstanceOf(LockLostException::class.java)
            assertThat((failure as LockLostException).reason()).`as`(name).isEqualTo(LossReason.FORCED)
            held().close()
        }
    }

    @Test
    fun givenTheLockIsLost_whenTheBlockFails_thenItsExceptionTellsOfBoth() = test {
        val failure = failureOf {
            builder().withLock { lock ->
                lose(lock)
                throw PlannedException()
            }
        }

        assertThat(failure).isInstanceOf(PlannedException::class.java)
        assertThat(failure!!.suppressed).hasAtLeastOneElementOfType(LockLostException::class.java)
    }

    @Test
    fun givenInTheBlock_whenTheCallerIsCancelledAndTheLockIsLost_thenItIsCancelled() = test {
        val inside = CompletableDeferred<Lock>()
        val ended = CompletableDeferred<Throwable?>()
        val working = launch {
            ended.complete(
                failureOf {
                    builder().withLock { lock ->
                        inside.complete(lock)
                        awaitCancellation()
                    }
                }
            )
        }
        assertThat(store.delete(inside.await().key())).isTrue()

        working.cancelAndJoin()

        assertThat(ended.await()).isInstanceOf(CancellationException::class.java)
        assertThat(ended.await()!!.suppressed).hasAtLeastOneElementOfType(LockLostException::class.java)
    }

    @Test
    fun givenHeld_whenRefreshedAndReleased_thenAsTheBlockingCalls() = test {
        val lock = lock()
        assertThat(failureOf { lock.refreshSuspending() }).isInstanceOf(IllegalStateException::class.java)
        assertThat(lock.acquireSuspending(Duration.ZERO)).isSameAs(lock)

        assertThat(lock.refreshSuspending()).isSameAs(lock)
        assertThat(lock.releaseSuspending()).isTrue()
        assertThat(lock.releaseSuspending()).isFalse()
    }

    @Test
    fun givenACancelledCoroutine_whenItReleases_thenReleased() = test {
        val lock = held()
        val cancelled = launch {
            try {
                awaitCancellation()
            } finally {
                lock.releaseSuspending()
            }
        }
        yield()

        cancelled.cancelAndJoin()

        assertThat(lock().tryAcquire()).isTrue()
    }

    /** Between the grant and the next step of the coroutine, which has to wait for a thread. */
    @Test
    fun givenGranted_whenCancelledBeforeTheCoroutineGoesOn_thenReleased() {
        val thread = ManualDispatcher()
        val lock = lock()
        var acquiring = thread.acquire(lock)
        while (acquiring.isCompleted) {
            assertThat(lock.release()).isTrue()
            acquiring = thread.acquire(lock)
        }
        thread.awaitNext()
        assertThat(lock.isAcquired).isTrue()

        acquiring.cancel()
        thread.runNext()

        assertThat(acquiring.isCompleted).isTrue()
        assertThat(lock().tryAcquire(LIMIT)).isTrue()
    }

    @Test
    fun givenHeldBefore_whenAnAcquireIsCancelledBeforeTheCoroutineGoesOn_thenHeldStill() {
        val thread = ManualDispatcher()
        val lock = held()
        val token = lock.fencingToken()
        var acquiring = thread.acquire(lock)
        while (acquiring.isCompleted) {
            acquiring = thread.acquire(lock)
        }
        thread.awaitNext()

        acquiring.cancel()
        thread.runNext()

        assertThat(acquiring.isCompleted).isTrue()
        // In the turn of the Lock, and therefore after it.
        assertThat(lock.refresh().fencingToken()).isEqualTo(token)
    }

    @Test
    fun givenPermits_whenManyBlocksRun_thenNeverMoreThanThereArePermits() = test {
        val inside = AtomicInteger()
        val most = AtomicInteger()

        List(30) {
                launch(Dispatchers.Default) {
                    locks.permits(resource, 3, 1).ttl(LONG_TTL).withLock {
                        most.accumulateAndGet(inside.incrementAndGet(), Math::max)
                        delay(1.milliseconds)
                        inside.decrementAndGet()
                    }
                }
            }
            .joinAll()

        assertThat(most).hasValueBetween(1, 3)
    }

    @Test
    fun givenManyCoroutines_whenEachIncrementsANumberUnderTheLock_thenNoUpdateIsLost() = test {
        var number = 0
        val builder = builder()

        List(MANY) {
                launch(Dispatchers.Default) {
                    builder.withLock {
                        val read = number
                        yield()
                        number = read + 1
                    }
                }
            }
            .joinAll()

        assertThat(number).isEqualTo(MANY)
    }

    @Test
    @Tag("slow")
    fun givenCancelledAtAnyMoment_whenGrantedMeanwhile_thenNothingIsHeld() = test {
        val ends = ConcurrentHashMap<String, Int>()
        repeat(RACES) { race ->
            val holder = lock()
            // Free as soon as what the race before has left is given back.
            assertThat(holder.tryAcquire(LIMIT)).`as`("race %d", race).isTrue()
            val isFree = race % 2 == 0
            if (isFree) {
                holder.release()
            }
            val end = AtomicReference("waiting")
            val racing = launch(Dispatchers.Default) {
                builder().withLock {
                    end.set("inside")
                    delay(1.milliseconds)
                    end.set("through")
                }
            }
            LockSupport.parkNanos(Random.nextLong(1_500_000))
            if (!isFree) {
                launch(Dispatchers.Default) { holder.releaseSuspending() }
            }
            LockSupport.parkNanos(Random.nextLong(400_000))
            racing.cancelAndJoin()
            ends.merge(end.get(), 1, Int::plus)
        }

        assertThat(lock().tryAcquire(LIMIT)).isTrue()
        println("$RACES races: $ends")
        assertThat(ends).containsKeys("waiting", "inside", "through")
    }

    private suspend fun awaitWaiters(count: Int) {
        while (locks.waiters(resource).size != count) {
            delay(5.milliseconds)
        }
    }

    private fun builder(): LockBuilder = locks.lock(resource).ttl(LONG_TTL)

    private fun lock(): Lock = builder().create()

    private fun held(): Lock = lock().also { assertThat(it.tryAcquire()).isTrue() }

    /** As an operator does it, who is not the factory that hears of it. */
    private fun lose(lock: Lock) {
        assertThat(LockFactory(store).forceRelease(resource, lock.fencingToken().asLong)).isTrue()
    }

    private fun test(body: suspend CoroutineScope.() -> Unit): Unit =
        runBlocking { withTimeout(LIMIT.multipliedBy(5).toKotlinDuration(), body) }

    private suspend fun failureOf(call: suspend () -> Unit): Throwable? = runCatching { call() }.exceptionOrNull()

    private class PlannedException : RuntimeException("planned")

    /** Runs what is to run when the test says so. */
    private class ManualDispatcher : CoroutineDispatcher() {

        private val tasks = LinkedBlockingQueue<Runnable>()

        override fun dispatch(context: CoroutineContext, block: Runnable) {
            tasks.add(block)
        }

        fun awaitNext() {
            Awaitility.await().atMost(LIMIT).until { tasks.isNotEmpty() }
        }

        fun runNext() {
            tasks.remove().run()
        }

        /** Asks for the lock. A coroutine that is granted it before it can wait has no next step, and ends at once. */
        fun acquire(lock: Lock): Job {
            val acquiring = CoroutineScope(this).launch { lock.acquireSuspending() }
            runNext()
            assertThat(acquiring.isCancelled).isFalse()
            return acquiring
        }
    }

    private companion object {
        const val RACES = 10_000
        const val MANY = 500
    }
}
