package dev.latchkey.spi;

import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The schemes of the store modules of this repository, and what others call them. */
final class StoreSchemes {

    /** Which artifact to add for a scheme nobody on the class path knows. */
    private static final Map<String, String> ARTIFACTS = Map.ofEntries(
            Map.entry("flock", "lock-store-flock"),
            Map.entry("redis", "lock-store-redis"),
            Map.entry("rediss", "lock-store-redis"),
            Map.entry("redis-cluster", "lock-store-redis"),
            Map.entry("redis-sentinel", "lock-store-redis"),
            Map.entry("rediss-cluster", "lock-store-redis"),
            Map.entry("rediss-sentinel", "lock-store-redis"),
            Map.entry("valkey", "lock-store-redis"),
            Map.entry("valkeys", "lock-store-redis"),
            Map.entry("mongodb", "lock-store-mongodb"),
            Map.entry("mongodb+srv", "lock-store-mongodb"),
            Map.entry("jdbc", "lock-store-jdbc"),
            Map.entry("postgresql", "lock-store-jdbc"),
            Map.entry("mysql", "lock-store-jdbc"),
            Map.entry("mariadb", "lock-store-jdbc"),
            Map.entry("postgresql+advisory", "lock-store-postgres-advisory"),
            Map.entry("mysql+getlock", "lock-store-mysql"),
            Map.entry("mariadb+getlock", "lock-store-mysql"),
            Map.entry("zookeeper", "lock-store-zookeeper"),
            Map.entry("etcd", "lock-store-etcd"),
            Map.entry("etcds", "lock-store-etcd"),
            Map.entry("dynamodb", "lock-store-dynamodb"),
            Map.entry("memcached", "lock-store-memcached"));

    /** What other libraries and drivers call it, and what is meant. */
    private static final Map<String, String> MEANT = Map.ofEntries(
            Map.entry("postgres", "postgresql://…"),
            Map.entry("pgsql", "postgresql://…"),
            Map.entry("pgsql+advisory", "postgresql+advisory://…"),
            Map.entry("postgres+advisory", "postgresql+advisory://…"),
            Map.entry("sqlite", "jdbc:sqlite:…"),
            Map.entry("h2", "jdbc:h2:…"),
            Map.entry("hsqldb", "jdbc:hsqldb:…"),
            Map.entry("sqlserver", "jdbc:sqlserver:…"),
            Map.entry("oracle", "jdbc:oracle:…"),
            Map.entry("mongo", "mongodb://…"),
            Map.entry("memcache", "memcached://…"),
            Map.entry("zk", "zookeeper://…"),
            Map.entry("file", "flock:///…"),
            Map.entry("memory", "in-memory"));

    private StoreSchemes() {}

    /** What tells how to spell it, or what to add. */
    static IllegalArgumentException unknown(String scheme, Set<String> supported) {
        String artifact = ARTIFACTS.get(scheme);
        if (artifact != null) {
            return new IllegalArgumentException("no store module for \"" + scheme
                    + "\" is on the class path: add the artifact dev.latchkey:" + artifact);
        }
        String meant = MEANT.get(scheme.toLowerCase(Locale.ROOT));
        if (meant != null) {
            return new IllegalArgumentException("unknown store \"" + scheme + "\": did you mean " + meant + "?");
        }
        TreeSet<String> known = new TreeSet<>(ARTIFACTS.keySet());
        known.addAll(supported);
        // Only what stands before the colon is repeated: the rest may hold a password.
        return new IllegalArgumentException("unknown store \"" + shown(scheme) + "\": a DSN starts with one of "
                + String.join(", ", known) + ", followed by the address if the store has one");
    }

    private static String shown(String scheme) {
        return scheme.length() <= 40 && scheme.chars().noneMatch(Character::isISOControl) ? scheme : "…";
    }
}
