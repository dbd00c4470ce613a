package dev.latchkey.shedlock;

import dev.latchkey.LockFactory;
import dev.latchkey.servers.MemcachedServer;
import dev.latchkey.servers.PatientDsn;

/** Keeps whole seconds. */
class MemcachedLockProviderIT extends LockProviderContract {

    @Override
    LockFactory connect() {
        return LockFactory.connect(PatientDsn.memcached(MemcachedServer.sharedDsn()));
    }
}
