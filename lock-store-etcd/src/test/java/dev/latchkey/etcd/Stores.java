package dev.latchkey.etcd;

/** Opens stores for tests. */
final class Stores {

    private Stores() {}

    static EtcdStore open(String dsn) {
        return Dsn.parse(dsn).store();
    }
}
