package dev.latchkey.spring;

import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;

/** What a native image cannot see by itself: scripts, tables and providers of stores, and what expressions of keys look at. */
final class LatchkeyRuntimeHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        hints.resources()
                .registerPattern("META-INF/services/dev.latchkey.spi.StoreProvider")
                .registerPattern("dev/latchkey/redis/*.lua")
                .registerPattern("dev/latchkey/jdbc/*.sql")
                .registerPattern("dev/latchkey/console/*");
        hints.reflection()
                .registerType(KeyEvaluator.Root.class, MemberCategory.INVOKE_PUBLIC_METHODS)
                .registerType(Locked.class, MemberCategory.INVOKE_PUBLIC_METHODS);
        for (String provider : new String[] {
            "flock.FlockStore",
            "jdbc.JdbcStore",
            "redis.RedisStore",
            "mongodb.MongoDbStore",
            "postgres.PostgresAdvisoryStore",
            "mysql.MySqlLockStore",
            "zookeeper.ZooKeeperStore",
            "etcd.EtcdStore",
            "dynamodb.DynamoDbStore",
            "memcached.MemcachedStore",
            "store.InMemoryStore",
            "store.NullStore",
            "combined.CombinedStore"
        }) {
            hints.reflection()
                    .registerType(
                            TypeReference.of("dev.latchkey." + provider + "$Provider"),
                            MemberCategory.INVOKE_PUBLIC_CONSTRUCTORS);
        }
    }
}
