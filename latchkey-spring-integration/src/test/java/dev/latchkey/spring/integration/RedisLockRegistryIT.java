package dev.latchkey.spring.integration;

import dev.latchkey.LockFactory;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.servers.RedisServer;

class RedisLockRegistryIT extends LockRegistryContract {

    @Override
    LockFactory connect() {
        return LockFactory.connect(PatientDsn.redis(RedisServer.sharedDsn()));
    }
}
