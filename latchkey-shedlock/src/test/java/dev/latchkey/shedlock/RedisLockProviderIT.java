package dev.latchkey.shedlock;

import dev.latchkey.LockFactory;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.servers.RedisServer;

/** Keeps leases by the millisecond. */
class RedisLockProviderIT extends LockProviderContract {

    @Override
    LockFactory connect() {
        return LockFactory.connect(PatientDsn.redis(RedisServer.sharedDsn()));
    }
}
