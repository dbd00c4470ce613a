package dev.latchkey.shedlock;

import dev.latchkey.LockFactory;
import dev.latchkey.servers.EtcdServer;
import dev.latchkey.servers.PatientDsn;

/** Keeps whole seconds, and no lease of less than two. */
class EtcdLockProviderIT extends LockProviderContract {

    @Override
    LockFactory connect() {
        return LockFactory.connect(PatientDsn.etcd(EtcdServer.sharedDsn()));
    }
}
