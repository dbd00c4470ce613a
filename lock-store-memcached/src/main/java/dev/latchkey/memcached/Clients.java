package dev.latchkey.memcached;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import net.spy.memcached.ConnectionFactoryBuilder;
import net.spy.memcached.ConnectionObserver;
import net.spy.memcached.FailureMode;
import net.spy.memcached.MemcachedClient;

/** Opens clients of the store's own, and looks at those of others. */
final class Clients {

    static final String ONE_SERVER = "a store is on one Memcached server: on several, which one has a lock changes when"
            + " one fails, and then two may hold. For more than one make a store of each, and a CombinedStore of them";

    private static final String LOGGER = "net.spy.log.LoggerImpl";
    private static final int TIMEOUTS_BEFORE_RECONNECT = 5;

    private Clients() {}

    /** Connects in the background: a server that is not there is an error of the first call. */
    static MemcachedClient open(Dsn dsn, InetSocketAddress address, Duration timeout, ConnectionObserver observer) {
        logToSlf4j();
        ConnectionFactoryBuilder factory = new ConnectionFactoryBuilder()
                .setProtocol(dsn.protocol())
                .setOpTimeout(timeout.toMillis())
                .setOpQueueMaxBlockTime(timeout.toMillis())
                .setTimeoutExceptionThreshold(TIMEOUTS_BEFORE_RECONNECT)
                .setMaxReconnectDelay(1)
                // What cannot be sent now waits until the connection is back, or its caller has waited long enough.
                .setFailureMode(FailureMode.Retry)
                .setInitialObservers(List.of(observer))
                .setDaemon(true);
        try {
            MemcachedClient client = new MemcachedClient(factory.build(), List.of(address));
            boolean unused = client.addObserver(new HalfSent(client));
            return client;
        } catch (IOException e) {
            throw new UncheckedIOException("could not begin to connect to " + address, e);
        }
    }

    /** The driver logs to standard error unless told otherwise before its first class is used. */
    private static void logToSlf4j() {
        if (System.getProperty(LOGGER) == null) {
            System.setProperty(LOGGER, "net.spy.memcached.compat.log.SLF4JLogger");
        }
    }

    static MemcachedClient checked(MemcachedClient client) {
        if (client.getNodeLocator().getAll().size() != 1) {
            throw new IllegalArgumentException(ONE_SERVER);
        }
        return client;
    }
}
