package dev.latchkey.kotlin

import dev.latchkey.redis.RedisStore
import dev.latchkey.servers.PatientDsn
import dev.latchkey.servers.RedisServer
import dev.latchkey.spi.PersistingStore

/** Over a store whose waiters need no thread. */
class RedisCoroutinesIT : CoroutineLockContract() {

    override fun open(): PersistingStore = RedisStore.Provider().open(PatientDsn.redis(RedisServer.sharedDsn()))
}
