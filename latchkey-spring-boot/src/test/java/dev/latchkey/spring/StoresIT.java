package dev.latchkey.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.LockFactory;
import dev.latchkey.mongodb.MongoDbStore;
import dev.latchkey.redis.RedisStore;
import dev.latchkey.servers.MongoDbServer;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.spi.PersistingStore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** An address in the properties is all that an application needs, besides the starter. */
@Timeout(value = 120, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StoresIT {

    private static final String EXCLUDE = "spring.autoconfigure.exclude=";
    private static final String JDBC = "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration";
    private static final String REDIS = "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration";
    private static final String MONGO = "org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration";

    @Test
    void givenRedisAlone_thenTwoApplicationsExcludeEachOther() {
        try (RedisServer redis = RedisServer.start()) {
            assertExclusion(RedisStore.class, EXCLUDE + JDBC + "," + MONGO, "spring.data.redis.url=" + redis.dsn());
        }
    }

    @Test
    void givenMongoDbAlone_thenTwoApplicationsExcludeEachOther() {
        try (MongoDbServer mongo = MongoDbServer.start()) {
            assertExclusion(
                    MongoDbStore.class,
                    EXCLUDE + JDBC + "," + REDIS,
                    "spring.mongodb.uri=mongodb://" + mongo.address());
        }
    }

    private static void assertExclusion(Class<?> store, String... properties) {
        try (ConfigurableApplicationContext one = Apps.start(Application.class, properties);
                ConfigurableApplicationContext other = Apps.start(Application.class, properties)) {
            LockFactory rivals = other.getBean(LockFactory.class);
            one.getBean(LockTemplate.class)
                    .run(
                            "a",
                            () -> assertThat(rivals.createLock("a").tryAcquire())
                                    .isFalse());

            assertThat(rivals.createLock("a").tryAcquire()).isTrue();
            assertThat(one.getBean(PersistingStore.class)).isInstanceOf(store);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
