package dev.latchkey.kotlin

import dev.latchkey.LockFactory
import java.util.Collections.frequency
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.runBlocking
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test

/** Runs the example. */
class InvoicesTest {

    @Test
    fun givenManyCoroutines_whenEachPrints_thenEachInvoiceIsPrintedOnce() {
        LockFactory.connect("in-memory").use { locks ->
            val invoices = Invoices(locks)
            val results =
                runBlocking(Dispatchers.Default) {
                    invoices.export(listOf("42", "43"))
                    List(20) { async { invoices.printOnce("42") } }.awaitAll()
                }

            assertThat(frequency(results, true)).isEqualTo(1)
            assertThat(invoices.printed).containsExactly("42")
        }
    }
}
