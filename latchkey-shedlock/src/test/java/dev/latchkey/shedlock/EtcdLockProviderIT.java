package dev.latchkey.shedlock;

import dev.latchkey.LockFactory;
import dev.latchkey.servers.EtcdServer;

/** Keeps whole seconds, and no lease of less than two. */
class EtcdLockProviderIT extends LockProviderContract {

    @Override
    LockFactory connect() {
        return LockFactory.connect(EtcdServer.sharedDsn());
    }
}
