package dev.latchkey.memcached;

import dev.latchkey.testkit.HandoverContract;
import dev.latchkey.testkit.LeaseCrashContract;
import dev.latchkey.testkit.MemcachedServer;
import dev.latchkey.testkit.ProcessContentionContract;

/** Several processes. */
class MemcachedProcessesIT extends TextProtocol
        implements HandoverContract, LeaseCrashContract, ProcessContentionContract {

    @Override
    public String dsn() {
        return MemcachedServer.sharedDsn();
    }
}
