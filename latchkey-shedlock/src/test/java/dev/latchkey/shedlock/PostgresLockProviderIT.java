package dev.latchkey.shedlock;

import dev.latchkey.LockFactory;
import dev.latchkey.servers.PostgresServer;

/** Keeps leases in a table. */
class PostgresLockProviderIT extends LockProviderContract {

    @Override
    LockFactory connect() {
        return LockFactory.connect(PostgresServer.sharedDsn());
    }
}
