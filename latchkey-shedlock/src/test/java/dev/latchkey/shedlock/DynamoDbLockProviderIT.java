package dev.latchkey.shedlock;

import dev.latchkey.LockFactory;
import dev.latchkey.servers.DynamoDbServer;

/** Has no clock: whoever asks looks for how long nothing has changed. */
class DynamoDbLockProviderIT extends LockProviderContract {

    @Override
    LockFactory connect() {
        return LockFactory.connect(DynamoDbServer.sharedDsn());
    }
}
