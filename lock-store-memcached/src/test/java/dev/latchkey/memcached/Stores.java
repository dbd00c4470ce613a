package dev.latchkey.memcached;

import dev.latchkey.testkit.ServerAddress;
import java.net.InetAddress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** Opens stores by DSN. */
final class Stores {

    private static final Duration LONG = Duration.ofMinutes(1);
    private static final AtomicInteger PREFIXES = new AtomicInteger();

    private Stores() {}

    /** A store whose calls and threads wait for as long as a busy machine may take. */
    static MemcachedStore patient(ServerAddress address) {
        return open(address, LONG);
    }

    /** The same, with the options of a DSN. */
    static MemcachedStore patient(String dsn) {
        return open(dsn, LONG);
    }

    /** A store whose commands are given up after a time. */
    static MemcachedStore open(ServerAddress address, Duration commandTimeout) {
        return open("memcached://" + address, commandTimeout);
    }

    private static MemcachedStore open(String address, Duration commandTimeout) {
        Dsn dsn = Dsn.parse(with(address, "timeout=" + commandTimeout.toMillis() + "ms"));
        MemcachedStore.Builder options = new MemcachedStore.Builder(new OwnClient(dsn, InetAddress::getByName))
                .commandTimeout(dsn.timeout())
                .patience(LONG);
        dsn.prefix().ifPresent(options::keyPrefix);
        return options.build();
    }

    /** A patient store on the same server, with a key prefix of its own. */
    static MemcachedStore openOthers(String dsn) {
        return patient(with(dsn, "prefix=others-" + PREFIXES.incrementAndGet() + ":"));
    }

    private static String with(String dsn, String option) {
        return dsn + (dsn.contains("?") ? "&" : "?") + option;
    }
}
