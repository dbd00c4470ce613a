package dev.latchkey.zookeeper;

import dev.latchkey.testkit.ServerAddress;
import dev.latchkey.testkit.TimeLimits;
import java.time.Duration;

/** Opens stores by the DSNs of test servers. */
final class Stores {

    private Stores() {}

    static ZooKeeperStore open(String dsn) {
        return (ZooKeeperStore) new ZooKeeperStore.Provider().open(dsn);
    }

    /** The option of a DSN for sessions that last longer on a busy machine, which is slow to prove them. */
    static String session(Duration onIdleMachine) {
        return "?sessionTimeout=" + TimeLimits.ttl(onIdleMachine).toMillis() + "ms";
    }

    static ZooKeeperStore open(ServerAddress address, String options) {
        return open("zookeeper://" + address + options);
    }
}
