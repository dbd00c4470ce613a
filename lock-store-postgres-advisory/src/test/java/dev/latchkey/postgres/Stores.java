package dev.latchkey.postgres;

import dev.latchkey.servers.PostgresServer;
import dev.latchkey.testkit.ServerAddress;

/** Opens stores by the DSNs of test servers. */
final class Stores {

    private Stores() {}

    static String advisory(String dsn) {
        return dsn.replaceFirst("^postgresql:", "postgresql+advisory:");
    }

    static PostgresAdvisoryStore open(String dsn) {
        return (PostgresAdvisoryStore) new PostgresAdvisoryStore.Provider().open(advisory(dsn));
    }

    static PostgresAdvisoryStore open(PostgresServer server) {
        return open(server.dsn());
    }

    static PostgresAdvisoryStore open(ServerAddress address) {
        return open(PostgresServer.dsn(address));
    }
}
