package dev.latchkey.testkit;

import java.util.List;

/** What the contracts that do things to servers need to know besides {@link ProcessesContract}; has no tests of its own. */
public interface OwnServersContract extends ProcessesContract {

    /**
     * Starts what the store needs and no other test uses: one server, or several that must agree. The contracts end them.
     *
     * @return servers, ready, which keep on disk what they can keep
     */
    List<? extends OwnServer> startServers();

    /**
     * Returns what connects to them.
     *
     * @param servers as they were started
     * @return the DSN of the first unless overridden
     */
    default String dsn(List<? extends OwnServer> servers) {
        return servers.get(0).dsn();
    }
}
