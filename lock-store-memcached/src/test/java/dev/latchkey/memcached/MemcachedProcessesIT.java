package dev.latchkey.memcached;

import dev.latchkey.servers.MemcachedServer;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.testkit.CutOffContract;
import dev.latchkey.testkit.HandoverContract;
import dev.latchkey.testkit.LeaseCrashContract;
import dev.latchkey.testkit.ProcessContentionContract;
import dev.latchkey.testkit.ServerFaultContract;
import java.util.List;

/** Several processes. */
class MemcachedProcessesIT extends TextProtocol
        implements HandoverContract,
                LeaseCrashContract,
                CutOffContract,
                ServerFaultContract,
                ProcessContentionContract {

    @Override
    public String dsn() {
        return PatientDsn.memcached(MemcachedServer.sharedDsn());
    }

    @Override
    public List<MemcachedServer> startServers() {
        return List.of(MemcachedServer.start());
    }
}
