package dev.latchkey.cli.serve;

import dev.latchkey.LockFactory;
import dev.latchkey.cli.PlentyStore;
import dev.latchkey.testkit.TimeLimits;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** A server over a store of a test, on any free port, or on that of one before. */
final class ServedStore implements AutoCloseable {

    static final Duration INTERVAL = Duration.ofMillis(100);

    final PlentyStore store;
    final LockFactory locks;
    final LockServer server;

    ServedStore(PlentyStore store, Optional<String> secret, boolean allowBreak, int port) {
        this(
                store,
                new ServerSettings(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
                        List.of("locks.example.org"),
                        secret,
                        allowBreak,
                        INTERVAL,
                        "",
                        "plenty"));
    }

    /** It closes no client whose thread has only stood still while it wrote. */
    ServedStore(PlentyStore store, ServerSettings settings) {
        this(store, settings, TimeLimits.LIMIT);
    }

    ServedStore(PlentyStore store, ServerSettings settings, Duration longestWrite) {
        this.store = store;
        locks = new LockFactory(store);
        try {
            server = LockServer.start(locks, settings, longestWrite);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static ServedStore of(PlentyStore store) {
        return new ServedStore(store, Optional.empty(), false, 0);
    }

    String url() {
        return server.url();
    }

    int port() {
        return java.net.URI.create(url()).getPort();
    }

    @Override
    public void close() {
        server.close();
        locks.close();
    }
}
