package dev.latchkey.memcached;

import dev.latchkey.spi.PersistingStore;
import dev.latchkey.testkit.ServerAddress;
import java.net.InetAddress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** Opens stores by DSN. */
final class Stores {

    private static final Duration LONG = Duration.ofMinutes(1);
    private static final AtomicInteger PREFIXES = new AtomicInteger();

    private Stores() {}

    static PersistingStore open(String dsn) {
        return new MemcachedStore.Provider().open(dsn);
    }

    /** A store whose calls and threads wait for as long as a busy machine may take. */
    static MemcachedStore patient(ServerAddress address) {
        return open(address, LONG);
    }

    /** A store whose commands are given up after a time. */
    static MemcachedStore open(ServerAddress address, Duration commandTimeout) {
        Dsn dsn = Dsn.parse("memcached://" + address);
        return new MemcachedStore.Builder(new OwnClient(dsn, commandTimeout, InetAddress::getByName))
                .commandTimeout(commandTimeout)
                .patience(LONG)
                .build();
    }

    /** A store on the same server, with a key prefix of its own. */
    static PersistingStore openOthers(String dsn) {
        return open(dsn + (dsn.contains("?") ? "&" : "?") + "prefix=others-" + PREFIXES.incrementAndGet() + ":");
    }
}
