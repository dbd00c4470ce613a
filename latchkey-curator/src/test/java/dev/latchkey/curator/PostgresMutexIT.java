package dev.latchkey.curator;

import dev.latchkey.LockFactory;
import dev.latchkey.servers.PostgresServer;

class PostgresMutexIT extends CuratorMutexContract {

    @Override
    LockFactory connect() {
        return LockFactory.connect(PostgresServer.sharedDsn());
    }
}
