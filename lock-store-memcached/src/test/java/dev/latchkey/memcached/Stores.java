package dev.latchkey.memcached;

import dev.latchkey.spi.PersistingStore;
import java.util.concurrent.atomic.AtomicInteger;

/** Opens stores by DSN. */
final class Stores {

    private static final AtomicInteger PREFIXES = new AtomicInteger();

    private Stores() {}

    static PersistingStore open(String dsn) {
        return new MemcachedStore.Provider().open(dsn);
    }

    /** A store on the same server, with a key prefix of its own. */
    static PersistingStore openOthers(String dsn) {
        return open(dsn + (dsn.contains("?") ? "&" : "?") + "prefix=others-" + PREFIXES.incrementAndGet() + ":");
    }
}
