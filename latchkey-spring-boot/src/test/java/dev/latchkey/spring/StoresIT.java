package dev.latchkey.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Lock;
import dev.latchkey.LockFactory;
import dev.latchkey.LockStorageException;
import dev.latchkey.dynamodb.DynamoDbStore;
import dev.latchkey.etcd.EtcdStore;
import dev.latchkey.mongodb.MongoDbStore;
import dev.latchkey.mysql.MySqlLockStore;
import dev.latchkey.redis.RedisStore;
import dev.latchkey.servers.DynamoDbServer;
import dev.latchkey.servers.EtcdServer;
import dev.latchkey.servers.MariaDbServer;
import dev.latchkey.servers.MongoDbServer;
import dev.latchkey.servers.PatientDsn;
import dev.latchkey.servers.RedisCluster;
import dev.latchkey.servers.RedisSentinel;
import dev.latchkey.servers.RedisServer;
import dev.latchkey.spi.PersistingStore;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** An address in the properties is all that an application needs, besides the starter. */
class StoresIT {

    private static final String EXCLUDE = "spring.autoconfigure.exclude=";
    private static final String JDBC = "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration";
    private static final String REDIS = "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration";
    private static final String MONGO = "org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration";

    @Test
    void givenRedisAlone_thenTwoApplicationsExcludeEachOther() {
        try (RedisServer redis = RedisServer.start()) {
            assertExclusion(
                    RedisStore.class,
                    EXCLUDE + JDBC + "," + MONGO,
                    "spring.data.redis.url=" + redis.dsn(),
                    Apps.PATIENT_REDIS);
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

    /** Stores for which Spring Boot has no client of its own. */
    static Stream<Arguments> dsns() {
        return Stream.of(
                Arguments.of(EtcdStore.class, PatientDsn.etcd(EtcdServer.sharedDsn())),
                Arguments.of(DynamoDbStore.class, DynamoDbServer.sharedDsn()),
                Arguments.of(
                        MySqlLockStore.class, MariaDbServer.sharedDsn().replaceFirst("^mariadb:", "mariadb+getlock:")));
    }

    @ParameterizedTest
    @MethodSource("dsns")
    void givenADsnAlone_thenTwoApplicationsExcludeEachOther(Class<?> store, String dsn) {
        assertExclusion(store, EXCLUDE + JDBC + "," + MONGO + "," + REDIS, "latchkey.store=" + dsn);
    }

    /** Spring ends the client of the application then, and Spring's tests pause their contexts in the same way. */
    @Test
    void givenRedis_whenTheContextIsStoppedAndStarted_thenItLocksAgain() {
        try (RedisServer redis = RedisServer.start();
                ConfigurableApplicationContext app = start(Application.class, redis)) {
            LockTemplate locks = app.getBean(LockTemplate.class);
            locks.run("a", () -> {
                app.stop();
                assertThat(CurrentLock.get().isLost()).isFalse();
            });
            app.start();

            assertThat(locks.tryRun("a", () -> {})).isTrue();
        }
    }

    /** Nothing that the store was opened with is left. */
    @Test
    void givenRedis_whenTheContextIsClosed_thenItsConnectionsAre() {
        try (RedisServer redis = RedisServer.start()) {
            try (ConfigurableApplicationContext app = start(Application.class, redis)) {
                app.getBean(LockTemplate.class).run("a", () -> {});
                assertThat(clients(redis)).isGreaterThan(1);
            }
            await().untilAsserted(() -> assertThat(clients(redis)).isEqualTo(1));
        }
    }

    /** With all that its client was told. */
    @Test
    void givenRedisWithAPasswordAndADatabase_thenLocksThere() {
        try (RedisServer redis = RedisServer.start()) {
            redis.call("CONFIG", "SET", "requirepass", "secret");
            String address = redis.dsn().replaceFirst("redis://(.*@)?", "redis://:secret@");
            assertExclusion(
                    RedisStore.class,
                    EXCLUDE + JDBC + "," + MONGO,
                    "spring.data.redis.url=" + address + "/3",
                    Apps.PATIENT_REDIS);
        }
    }

    /** Lettuce has no limit then for a command, and a tenth of a second for the start of a connection. */
    @Test
    void givenRedisWithATimeoutOfZero_thenLocksOnceConnected() {
        try (RedisServer redis = RedisServer.start();
                ConfigurableApplicationContext app =
                        start(Application.class, redis, "latchkey.fail-fast=false", "spring.data.redis.timeout=0")) {
            Lock lock = app.getBean(LockFactory.class).createLock("a");

            await().ignoreExceptionsInstanceOf(LockStorageException.class).until(lock::tryAcquire);
        }
    }

    @Test
    void givenRedisWithATimeout_whenItDoesNotAnswer_thenTheCallFailsAfterThat() {
        try (RedisServer redis = RedisServer.start();
                ConfigurableApplicationContext app = start(Application.class, redis, "spring.data.redis.timeout=4s")) {
            Lock lock = app.getBean(LockFactory.class).createLock("a");
            await().ignoreExceptionsInstanceOf(LockStorageException.class).until(lock::tryAcquire);
            redis.freeze();
            try {
                assertThatThrownBy(lock::release)
                        .isInstanceOf(LockStorageException.class)
                        .hasMessageContaining("did not answer within PT4S");
            } finally {
                redis.thaw();
            }
        }
    }

    @Test
    void givenAClusterOfRedis_thenTwoApplicationsExcludeEachOther() {
        try (RedisCluster cluster = RedisCluster.start()) {
            String nodes = cluster.masters().stream()
                    .map(master -> master.address().toString())
                    .collect(Collectors.joining(","));
            assertExclusion(
                    RedisStore.class,
                    EXCLUDE + JDBC + "," + MONGO,
                    "spring.data.redis.cluster.nodes=" + nodes,
                    Apps.PATIENT_REDIS);
        }
    }

    @Test
    void givenSentinels_thenTwoApplicationsExcludeEachOther() {
        try (RedisSentinel sentinel = RedisSentinel.start()) {
            assertExclusion(
                    RedisStore.class,
                    EXCLUDE + JDBC + "," + MONGO,
                    "spring.data.redis.sentinel.master=latchkey",
                    "spring.data.redis.sentinel.nodes=" + sentinel.address(),
                    Apps.PATIENT_REDIS);
        }
    }

    /** The store is open by then. */
    @Test
    void givenRedis_whenTheStartFailsLater_thenItsConnectionsAreClosed() {
        try (RedisServer redis = RedisServer.start()) {
            assertThatThrownBy(() -> start(FailingStart.class, redis)).hasMessageContaining("of the application");

            await().untilAsserted(() -> assertThat(clients(redis)).isEqualTo(1));
        }
    }

    @Test
    void givenAFixedListOfMastersAndReplicas_thenRefused() {
        assertThatThrownBy(
                        () -> Apps.start(MasterReplica.class, EXCLUDE + JDBC + "," + MONGO, "latchkey.fail-fast=false"))
                .rootCause()
                .isInstanceOf(LatchkeyConfigurationException.class)
                .hasMessageContaining("a fixed list of a master and its replicas");
    }

    private static ConfigurableApplicationContext start(Class<?> application, RedisServer redis, String... properties) {
        Stream<String> store = Stream.of(EXCLUDE + JDBC + "," + MONGO, "spring.data.redis.url=" + redis.dsn());
        return Apps.start(
                application, Stream.concat(store, Stream.of(properties)).toArray(String[]::new));
    }

    /** That which asks is one of them. */
    private static long clients(RedisServer redis) {
        return redis.text("CLIENT", "LIST")
                .lines()
                .filter(line -> line.contains("id="))
                .count();
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

    @Configuration(proxyBeanMethods = false)
    @Import(Application.class)
    static class MasterReplica {
        @Bean
        LettuceConnectionFactory redisConnectionFactory() {
            return new LettuceConnectionFactory(new RedisStaticMasterReplicaConfiguration("127.0.0.1"));
        }

        @Bean
        Work work() {
            return new Work();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Application.class, Work.class})
    static class FailingStart {
        @Bean
        ApplicationListener<ContextRefreshedEvent> failing(Work work) {
            return event -> {
                work.work();
                throw new IllegalStateException("of the application");
            };
        }
    }

    static class Work {
        @Locked("'a'")
        void work() {}
    }
}
