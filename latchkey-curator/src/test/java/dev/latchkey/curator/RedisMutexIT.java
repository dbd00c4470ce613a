package dev.latchkey.curator;

import dev.latchkey.LockFactory;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.servers.RedisServer;

class RedisMutexIT extends CuratorMutexContract {

    @Override
    LockFactory connect() {
        return LockFactory.connect(PatientDsn.redis(RedisServer.sharedDsn()));
    }
}
