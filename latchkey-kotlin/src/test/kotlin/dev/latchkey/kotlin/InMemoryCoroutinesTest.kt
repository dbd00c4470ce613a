package dev.latchkey.kotlin

import dev.latchkey.spi.PersistingStore
import dev.latchkey.store.InMemoryStore

/** Over a store whose waiters each need a thread. */
class InMemoryCoroutinesTest : CoroutineLockContract() {

    override fun open(): PersistingStore = InMemoryStore()
}
