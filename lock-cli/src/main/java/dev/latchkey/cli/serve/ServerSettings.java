package dev.latchkey.cli.serve;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What the page shows, and to whom.
 *
 * @param bind the address to listen at
 * @param hosts names under which the page is reached, beside the address itself, such as that of a proxy
 * @param authToken the secret that opens the page; empty: it is open
 * @param allowBreak whether a hold can be ended from the page
 * @param interval how often the store is read while a page listens
 * @param prefix what the names of the shown resources begin with
 * @param store the name of the store, for people, without secrets
 */
public record ServerSettings(
        InetSocketAddress bind,
        List<String> hosts,
        Optional<String> authToken,
        boolean allowBreak,
        Duration interval,
        String prefix,
        String store) {

    /** Without the secret. */
    @Override
    public String toString() {
        return "ServerSettings[" + bind + ", " + store + "]";
    }
}
