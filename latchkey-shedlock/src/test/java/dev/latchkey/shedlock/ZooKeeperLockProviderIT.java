package dev.latchkey.shedlock;

import dev.latchkey.LockFactory;
import dev.latchkey.servers.ZooKeeperServer;

/** Has sessions, and no leases. */
class ZooKeeperLockProviderIT extends LockProviderContract {

    @Override
    LockFactory connect() {
        return LockFactory.connect(ZooKeeperServer.sharedDsn());
    }
}
