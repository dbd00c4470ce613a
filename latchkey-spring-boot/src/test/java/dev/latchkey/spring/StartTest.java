package dev.latchkey.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.latchkey.LockFactory;
import dev.latchkey.flock.FlockStore;
import dev.latchkey.jdbc.JdbcStore;
import dev.latchkey.redis.RedisStore;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.spi.StoreProvider;
import dev.latchkey.store.InMemoryStore;
import io.lettuce.core.RedisClient;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/** What an application locks with, and what it is told if that is nothing. */
@ExtendWith(OutputCaptureExtension.class)
@Tag("slow")
class StartTest {

    /** Redis is not even looked for, unless somebody wants it. */
    private static final String NO_REDIS =
            "spring.autoconfigure.exclude=org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration,"
                    + "org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration";

    private static final String NO_CLIENT =
            NO_REDIS + ",org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration";

    private static final String H2 = "spring.datasource.url=jdbc:h2:mem:start";

    @Test
    void givenADataSourceUrlAlone_thenLocksInThatDatabase() {
        try (ConfigurableApplicationContext app = Apps.start(Empty.class, NO_REDIS, H2)) {
            assertThat(app.getBean(LockTemplate.class).<Boolean, RuntimeException>call("a", () -> true))
                    .isTrue();
            assertThat(app.getBean(PersistingStore.class)).isInstanceOf(JdbcStore.class);
        }
    }

    @Test
    void givenNoClient_thenLocksFilesAndSaysSo(CapturedOutput output) {
        try (ConfigurableApplicationContext app = Apps.start(Empty.class, NO_CLIENT)) {
            assertThat(app.getBean(LockTemplate.class).<Boolean, RuntimeException>call("a", () -> true))
                    .isTrue();
            assertThat(app.getBean(PersistingStore.class)).isInstanceOf(FlockStore.class);
            assertThat(output).contains("Latchkey keeps locks in files");
        }
    }

    @Test
    void givenADsn_thenLocksThere() {
        try (ConfigurableApplicationContext app = Apps.start(Empty.class, NO_REDIS, H2, "latchkey.store=in-memory")) {
            assertThat(app.getBean(PersistingStore.class)).isInstanceOf(InMemoryStore.class);
        }
    }

    @Test
    void givenAStoreOfTheApplication_thenLocksThere() {
        try (ConfigurableApplicationContext app = Apps.start(OwnStore.class, H2)) {
            app.getBean(LockTemplate.class).run("a", () -> {});

            assertThat(app.getBean(PersistingStore.class)).isInstanceOf(InMemoryStore.class);
            assertThat(app.getBeansOfType(PersistingStore.class)).containsOnlyKeys("ownStore");
        }
    }

    @Test
    void givenAProxyThatTakesPartInTransactions_thenLocksInItsTarget() {
        try (ConfigurableApplicationContext app = Apps.start(Proxied.class, NO_CLIENT)) {
            assertThat(app.getBean(LockTemplate.class).<Boolean, RuntimeException>call("a", () -> true))
                    .isTrue();
        }
    }

    @Test
    void givenNobodyLocks_thenNoStoreIsOpened() {
        try (ConfigurableApplicationContext app = Apps.start(Empty.class, NO_REDIS, H2)) {
            assertThat(app.getBeanFactory().containsSingleton(LatchkeyLifecycle.STORE))
                    .isFalse();
            assertThat(app.getBeanFactory().containsSingleton(LatchkeyLifecycle.FACTORY))
                    .isFalse();
        }
    }

    @Test
    void givenAContextThatIsClosed_thenTheFactoryIs() {
        ConfigurableApplicationContext app = Apps.start(Empty.class, "latchkey.store=in-memory", NO_CLIENT);
        LockFactory locks = app.getBean(LockFactory.class);
        app.close();

        assertThatThrownBy(() -> locks.createLock("a").tryAcquire()).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void givenAContextThatIsOnlyStopped_whenItIsStartedAgain_thenItLocks() {
        try (ConfigurableApplicationContext app = Apps.start(Empty.class, "latchkey.store=in-memory", NO_CLIENT)) {
            LockTemplate locks = app.getBean(LockTemplate.class);
            app.stop();
            app.start();

            assertThat(locks.tryRun("a", () -> {})).isTrue();
        }
    }

    @Test
    void givenTwoClientsAndNoChoice_thenNamesTheProperty(CapturedOutput output) {
        assertFails(
                output,
                Empty.class,
                "Set latchkey.store to jdbc or redis",
                H2,
                "spring.autoconfigure.exclude=org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            redis                        | spring.data.redis.url
            rediss                       | Correct latchkey.store
            nosuch://host                | unknown store "nosuch"
            jdbc:nosuch:host             | no JDBC driver
            """)
    void givenAWrongStore_thenSaysWhatIsRight(String store, String said, CapturedOutput output) {
        assertFails(output, Empty.class, said, NO_CLIENT, "latchkey.store=" + store);
    }

    @Test
    void givenAStoreThatCannotBeReached_whenSomethingIsLocked_thenSaysSo(CapturedOutput output) {
        assertFails(
                output,
                OneLocked.class,
                "Latchkey cannot reach the store of its locks, jdbc",
                NO_REDIS,
                "spring.datasource.url=jdbc:postgresql://127.0.0.1:1/none?connectTimeout=1",
                "spring.datasource.hikari.connection-timeout=1000",
                "spring.datasource.hikari.initialization-fail-timeout=0");
    }

    @Test
    void givenAStoreThatCannotBeReached_whenThatIsAllowed_thenStarts() {
        try (ConfigurableApplicationContext app = Apps.start(
                OneLocked.class,
                NO_REDIS,
                "spring.datasource.url=jdbc:postgresql://127.0.0.1:1/none?connectTimeout=1",
                "latchkey.fail-fast=false")) {
            assertThat(app.isRunning()).isTrue();
        }
    }

    /** The endpoint has nothing to show then. */
    @Test
    void givenTheAutoConfigurationIsExcluded_whenTheEndpointIsExposed_thenStarts() {
        try (ConfigurableApplicationContext app = Apps.start(
                Empty.class,
                NO_CLIENT + ",dev.latchkey.spring.LatchkeyAutoConfiguration",
                "management.endpoints.web.exposure.include=*")) {
            assertThat(app.getBeansOfType(LocksEndpoint.class)).isEmpty();
            assertThat(app.getBeansOfType(HealthIndicator.class)).doesNotContainKey("latchkeyHealthIndicator");
        }
    }

    /** Health was down for ever: none of them was the one to ask. */
    @Test
    void givenOwnFactoryAndSeveralStores_whenHealthIsAsked_thenLatchkeyHasNoPartInIt() {
        try (ConfigurableApplicationContext app = Apps.start(OwnFactoryAndStores.class, NO_CLIENT)) {
            assertThat(app.getBeansOfType(HealthIndicator.class)).doesNotContainKey("latchkeyHealthIndicator");
        }
    }

    @Test
    void givenAMinHoldOnAStoreWithoutLeases_thenSaysSo(CapturedOutput output) {
        assertFails(output, MinHeld.class, "its minHold needs a store with leases", NO_CLIENT);
    }

    @Test
    void givenPermitsOnAStoreThatCannotCountThem_thenSaysSo(CapturedOutput output) {
        assertFails(output, Limited.class, "its permits need a store with semaphores", NO_CLIENT);
    }

    @Test
    void givenFewerPermitsThanNone_thenSaysSo(CapturedOutput output) {
        assertFails(output, LessThanNothing.class, "there cannot be -1 permits", NO_CLIENT);
    }

    @Test
    void givenAStoreOfTheApplicationThatCannotBeReached_thenSaysSo(CapturedOutput output) {
        assertFails(output, OwnUnreachableStore.class, "Latchkey cannot reach the store of its locks", NO_CLIENT);
    }

    @ParameterizedTest
    @ValueSource(classes = {OwnFlockStore.class, OwnFlockFactory.class})
    void givenAMinHoldOnAnOwnStoreWithoutLeases_thenSaysSo(Class<?> application, CapturedOutput output) {
        assertFails(output, application, "its minHold needs a store with leases", NO_CLIENT);
    }

    @ParameterizedTest
    @ValueSource(classes = {TwoFactories.class, TwoStores.class})
    void givenSeveralBeansToLockWith_whenNoneIsPrimary_thenSaysSo(Class<?> application, CapturedOutput output) {
        assertFails(output, application, "one, two, and none of them is primary", NO_CLIENT);
    }

    @ParameterizedTest
    @ValueSource(classes = {ShortTtl.class, ShortMaxHold.class, LongMinHold.class})
    void givenADurationThatNoLockMayHave_thenSaysSo(Class<?> application, CapturedOutput output) {
        assertFails(output, application, "is out of range", NO_CLIENT, "latchkey.store=in-memory");
    }

    @Test
    void givenATtlThatNoLockMayHave_thenSaysSo(CapturedOutput output) {
        assertFails(
                output,
                OneLocked.class,
                "latchkey.ttl is no TTL of a lock",
                NO_CLIENT,
                "latchkey.store=in-memory",
                "latchkey.ttl=0s");
    }

    @Test
    void givenAPasswordInTheStore_thenNotShown(CapturedOutput output) {
        assertFails(
                output,
                OneLocked.class,
                "Correct latchkey.store",
                NO_CLIENT,
                "latchkey.store=postgresql://user:hidden@host:none/locks");
        assertThat(output).doesNotContain("hidden");
        assertThat(new LatchkeyProperties("redis://:hidden@host", Duration.ofSeconds(1), "", true).toString())
                .doesNotContain("hidden");
    }

    @Test
    void givenADataSourceThatLeadsToSeveralDatabases_thenSaysSo(CapturedOutput output) {
        assertFails(output, Routed.class, "leads to several databases", NO_CLIENT);
    }

    static Stream<Arguments> wrong() {
        return Stream.of(
                Arguments.of(FinalMethod.class, "it is final"),
                Arguments.of(PrivateMethod.class, "it is private"),
                Arguments.of(InheritedPackagePrivate.class, "it is package-private"),
                Arguments.of(FinalClass.class, "is final, so there can be no proxy"),
                Arguments.of(EmptyKey.class, "its key is empty"),
                Arguments.of(EmptyText.class, "its key is empty"),
                Arguments.of(UnquotedKey.class, "put it in single quotes: \"'nightly'\""),
                Arguments.of(BrokenKey.class, "is no expression"),
                Arguments.of(UnknownArgument.class, "names #ide, which is no argument"),
                Arguments.of(SkippedPrimitive.class, "Return Integer or an Optional"),
                Arguments.of(PlainFuture.class, "nobody can tell when a Future has completed"),
                Arguments.of(OtherStage.class, "nobody can tell when a Stage has completed"),
                Arguments.of(OtherPublisher.class, "nobody can tell when a Publisher has completed"),
                Arguments.of(BadDuration.class, "its ttl \"soon\" is no duration"),
                Arguments.of(MinOverMax.class, "its minHold is longer than its maxHold"));
    }

    @ParameterizedTest
    @MethodSource("wrong")
    void givenAMethodThatCannotBeLocked_thenSaysWhatToDo(Class<?> bean, String said, CapturedOutput output) {
        assertThatThrownBy(() -> Apps.start(bean, NO_CLIENT, "latchkey.store=in-memory"));

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("@Locked cannot lock")
                .contains(said);
        assertThat(output.toString().lines().filter(line -> line.startsWith("\tat ")))
                .isEmpty();
    }

    /** As the launcher of an application shows it: one paragraph of what is wrong, and one of what to do. */
    private static void assertFails(CapturedOutput output, Class<?> application, String said, String... properties) {
        assertThatThrownBy(() -> Apps.start(application, properties));

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("Action:")
                .contains(said);
        assertThat(output.toString().lines().filter(line -> line.startsWith("\tat ")))
                .isEmpty();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Empty {}

    @Configuration(proxyBeanMethods = false)
    @Import(Empty.class)
    static class OwnStore {
        @Bean
        InMemoryStore ownStore() {
            return new InMemoryStore();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Empty.class)
    static class Proxied {
        @Bean
        DataSource dataSource() {
            return new LazyConnectionDataSourceProxy(new TransactionAwareDataSourceProxy(
                    new DriverManagerDataSource("jdbc:h2:mem:proxied;DB_CLOSE_DELAY=-1")));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Empty.class, OneLocked.Work.class})
    static class OneLocked {
        static class Work {
            @Locked("'a'")
            void work() {}
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(OneLocked.class)
    static class OwnUnreachableStore {
        @Bean
        RedisStore ownStore() {
            return new RedisStore(RedisClient.create("redis://127.0.0.1:1"));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(OneLocked.class)
    static class TwoFactories {
        @Bean
        LockFactory one() {
            return LockFactory.connect("in-memory");
        }

        @Bean
        LockFactory two() {
            return LockFactory.connect("in-memory");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(OneLocked.class)
    static class TwoStores {
        @Bean
        InMemoryStore one() {
            return new InMemoryStore();
        }

        @Bean
        InMemoryStore two() {
            return new InMemoryStore();
        }
    }

    @EnableAutoConfiguration
    static class ShortTtl {
        @Locked(value = "'a'", ttl = "0s")
        void work() {}
    }

    @EnableAutoConfiguration
    static class ShortMaxHold {
        @Locked(value = "'a'", maxHold = "1ms")
        void work() {}
    }

    @EnableAutoConfiguration
    static class LongMinHold {
        @Locked(value = "'a'", minHold = "99999d")
        void work() {}
    }

    @Configuration(proxyBeanMethods = false)
    @Import(MinHeld.class)
    static class OwnFlockStore {
        @Bean
        PersistingStore ownStore() {
            return StoreProvider.connect("flock");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class OwnFactoryAndStores {
        @Bean
        LockFactory ownFactory() {
            return LockFactory.connect("in-memory");
        }

        @Bean
        PersistingStore one() {
            return StoreProvider.connect("in-memory");
        }

        @Bean
        PersistingStore two() {
            return StoreProvider.connect("in-memory");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(MinHeld.class)
    static class OwnFlockFactory {
        @Bean
        LockFactory ownFactory() {
            return LockFactory.connect("flock");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(OneLocked.class)
    static class Routed {
        @Bean
        DataSource dataSource() {
            AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {
                @Override
                protected Object determineCurrentLookupKey() {
                    return "tenant";
                }
            };
            routing.setTargetDataSources(Map.of("tenant", new DriverManagerDataSource("jdbc:h2:mem:tenant")));
            routing.afterPropertiesSet();
            return new LazyConnectionDataSourceProxy(routing);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Empty.class, MinHeld.Work.class})
    static class MinHeld {
        static class Work {
            @Locked(value = "'a'", minHold = "1s")
            void work() {}
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Empty.class, Limited.Work.class})
    static class Limited {
        static class Work {
            @Locked(value = "'a'", permits = 2)
            void work() {}
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Empty.class, LessThanNothing.Work.class})
    static class LessThanNothing {
        static class Work {
            @Locked(value = "'a'", permits = -1)
            void work() {}
        }
    }

    @EnableAutoConfiguration
    static class FinalMethod {
        @Locked("'a'")
        final void work() {}
    }

    @EnableAutoConfiguration
    static class PrivateMethod {
        @Locked("'a'")
        @SuppressWarnings("UnusedMethod")
        private void work() {}
    }

    @Import(InheritedPackagePrivate.Work.class)
    @EnableAutoConfiguration
    static class InheritedPackagePrivate {
        static class Work extends dev.latchkey.spring.elsewhere.PackagePrivateWork {}
    }

    @Import(FinalClass.Work.class)
    @EnableAutoConfiguration
    static class FinalClass {
        static final class Work {
            @Locked("'a'")
            void work() {}
        }
    }

    @EnableAutoConfiguration
    static class EmptyKey {
        @Locked("")
        void work() {}
    }

    @EnableAutoConfiguration
    static class EmptyText {
        @Locked("''")
        void work() {}
    }

    @EnableAutoConfiguration
    static class UnquotedKey {
        @Locked("nightly")
        void work() {}
    }

    @EnableAutoConfiguration
    static class BrokenKey {
        @Locked("'order:' + ")
        void work() {}
    }

    @EnableAutoConfiguration
    static class UnknownArgument {
        @Locked("'order:' + #ide")
        void work(long id) {
            assertThat(id).isPositive();
        }
    }

    @EnableAutoConfiguration
    static class SkippedPrimitive {
        @Locked(value = "'a'", ifHeld = IfHeld.SKIP)
        int work() {
            return 1;
        }
    }

    @EnableAutoConfiguration
    static class PlainFuture {
        @Locked("'a'")
        Future<Integer> work() {
            return CompletableFuture.completedFuture(1);
        }
    }

    @EnableAutoConfiguration
    static class OtherStage {

        static class Stage extends CompletableFuture<Integer> {}

        @Locked("'a'")
        Stage work() {
            return new Stage();
        }
    }

    @EnableAutoConfiguration
    static class OtherPublisher {
        @Locked("'a'")
        Flow.Publisher<Integer> work() {
            return Flow.Subscriber::onComplete;
        }
    }

    @EnableAutoConfiguration
    static class BadDuration {
        @Locked(value = "'a'", ttl = "soon")
        void work() {}
    }

    @EnableAutoConfiguration
    static class MinOverMax {
        @Locked(value = "'a'", minHold = "2m", maxHold = "1m")
        void work() {}
    }
}
