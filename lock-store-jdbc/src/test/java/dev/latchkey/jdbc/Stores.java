package dev.latchkey.jdbc;

import dev.latchkey.spi.PersistingStore;
import java.util.concurrent.atomic.AtomicInteger;

/** Opens stores by DSN. */
final class Stores {

    private static final AtomicInteger TABLES = new AtomicInteger();

    private Stores() {}

    static JdbcStore open(String dsn) {
        return Pools.open(Dsn.parse(dsn), builder -> builder);
    }

    /** A store in the same database, with a table of its own. */
    static PersistingStore openOthers(String dsn) {
        return Pools.open(Dsn.parse(dsn), builder -> builder.table("others_" + TABLES.incrementAndGet()));
    }
}
