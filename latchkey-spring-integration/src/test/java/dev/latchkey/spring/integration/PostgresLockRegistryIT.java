package dev.latchkey.spring.integration;

import dev.latchkey.LockFactory;
import dev.latchkey.servers.PostgresServer;

class PostgresLockRegistryIT extends LockRegistryContract {

    @Override
    LockFactory connect() {
        return LockFactory.connect(PostgresServer.sharedDsn());
    }
}
