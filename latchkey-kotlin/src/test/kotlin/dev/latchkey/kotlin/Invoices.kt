package dev.latchkey.kotlin

import dev.latchkey.LockFactory
import java.util.concurrent.ConcurrentHashMap
import kotlin.time.Duration.Companion.seconds
import kotlin.time.toJavaDuration
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch

/** The example of docs/async.md. */
class Invoices(private val locks: LockFactory) {

    val printed: MutableSet<String> = ConcurrentHashMap.newKeySet()

    /** Returns false if another process, or another coroutine, has printed it before. */
    suspend fun printOnce(number: String): Boolean =
        locks.lock("invoice:$number").ttl(30.seconds.toJavaDuration()).autoRefresh().withLock(10.seconds) { lock ->
            val isNew = number !in printed
            if (isNew) {
                launch { print(number, lock.fencingToken().asLong) }
            }
            isNew
        }

    private fun print(number: String, token: Long) {
        printed += number
        println("invoice $number, token $token")
    }

    suspend fun export(numbers: List<String>): Unit = coroutineScope {
        for (number in numbers) {
            launch { locks.permits("exports", 3, 1).withLock { println("exports $number") } }
        }
    }
}
