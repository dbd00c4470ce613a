package dev.latchkey.zookeeper;

import dev.latchkey.testkit.ServerAddress;

/** Opens stores by the DSNs of test servers. */
final class Stores {

    private Stores() {}

    static ZooKeeperStore open(String dsn) {
        return (ZooKeeperStore) new ZooKeeperStore.Provider().open(dsn);
    }

    static ZooKeeperStore open(ServerAddress address, String options) {
        return open("zookeeper://" + address + options);
    }
}
