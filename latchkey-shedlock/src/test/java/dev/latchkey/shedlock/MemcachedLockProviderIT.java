package dev.latchkey.shedlock;

import dev.latchkey.LockFactory;
import dev.latchkey.servers.MemcachedServer;

/** Keeps whole seconds. */
class MemcachedLockProviderIT extends LockProviderContract {

    @Override
    LockFactory connect() {
        return LockFactory.connect(MemcachedServer.sharedDsn());
    }
}
