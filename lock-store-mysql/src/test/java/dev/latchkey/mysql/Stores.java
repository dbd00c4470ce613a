package dev.latchkey.mysql;

import dev.latchkey.servers.MariaDbServer;
import dev.latchkey.testkit.ServerAddress;

/** Opens stores by the DSNs of test servers. */
final class Stores {

    private Stores() {}

    static String getLock(String dsn) {
        return dsn.replaceFirst("^(mysql|mariadb):", "$1+getlock:");
    }

    static MySqlLockStore open(String dsn) {
        return (MySqlLockStore) new MySqlLockStore.Provider().open(getLock(dsn));
    }

    static MySqlLockStore open(MariaDbServer server) {
        return open(server.dsn());
    }

    static String dsn(ServerAddress address) {
        return "mariadb+getlock://root@" + address + "/test?sslMode=disable";
    }
}
