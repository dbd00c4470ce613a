package dev.latchkey.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.latchkey.LockLostException;
import dev.latchkey.spi.PersistingStore;
import dev.latchkey.testkit.TimeLimits;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** When a commit is refused, and when it is not, with transaction managers and synchronizations of the application. */
class CommitCheckTest {

    private static final String NO_OTHER_CLIENT =
            "spring.autoconfigure.exclude=org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration,"
                    + "org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration";

    /** As a listener for the phase BEFORE_COMMIT, which is registered when its event is published. */
    @Test
    void givenOthersWorkBeforeTheCommit_whenTheLockIsLostMeanwhile_thenNotCommitted() {
        try (ConfigurableApplicationContext app = Apps.start(
                Application.class,
                NO_OTHER_CLIENT,
                "spring.datasource.url=jdbc:h2:mem:before-commit",
                "latchkey.store=in-memory")) {
            assertNotCommitted(
                    app,
                    () -> TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                        @Override
                        public void beforeCommit(boolean readOnly) {
                            loseLock(app);
                        }
                    }));
        }
    }

    @Test
    void givenATransactionManagerThatAPostProcessorNeeds_whenTheLockIsLost_thenNotCommitted() {
        try (ConfigurableApplicationContext app = Apps.start(
                EarlyManager.class,
                NO_OTHER_CLIENT,
                "spring.datasource.url=jdbc:h2:mem:early",
                "latchkey.store=in-memory")) {
            assertNotCommitted(app, () -> loseLock(app));
        }
    }

    /** Such a connection is bound to the thread for the time of the transaction, but is not in it. */
    @Test
    void givenATransactionElsewhere_whenItReadsTheDatabaseOfTheLocks_thenCommitted() {
        try (ConfigurableApplicationContext app = Apps.start(Elsewhere.class, NO_OTHER_CLIENT, "latchkey.store=jdbc")) {
            Work work = app.getBean(Work.class);
            DataSource ofLocks = app.getBean("ofLocks", DataSource.class);

            work.write(() -> assertThat(JdbcClient.create(ofLocks)
                            .sql("SELECT 1")
                            .query(Integer.class)
                            .single())
                    .isOne());

            assertThat(work.written()).isOne();
        }
    }

    /** A guard in the transaction outside would keep the release inside waiting for it, in the same thread. */
    @Test
    void givenATransactionInsideOfOneOnTheDatabaseOfTheLocks_whenALockIsReleasedThere_thenDoesNotWaitForItself() {
        try (ConfigurableApplicationContext app =
                Apps.start(TwoManagers.class, NO_OTHER_CLIENT, "latchkey.store=jdbc")) {
            TransactionTemplate outer = transactions(app, "transactionManager");
            TransactionTemplate inner = transactions(app, "ofOrdersManager");
            Work work = app.getBean(Work.class);

            outer.executeWithoutResult(begun -> inner.executeWithoutResult(alsoBegun -> work.write(() -> {})));

            assertThat(work.written()).isOne();
        }
    }

    /** As above, it would keep renewals waiting. */
    @Test
    @Tag("slow")
    void givenATransactionInside_whenItIsCommittedLongBeforeTheOneOutside_thenTheLockIsRenewedMeanwhile() {
        try (ConfigurableApplicationContext app =
                Apps.start(TwoManagers.class, NO_OTHER_CLIENT, "latchkey.store=jdbc", "latchkey.ttl=9s")) {
            TransactionTemplate outer = transactions(app, "transactionManager");
            TransactionTemplate inner = transactions(app, "ofOrdersManager");

            app.getBean(LockTemplate.class)
                    .run(
                            "renewed",
                            () -> outer.executeWithoutResult(begun -> {
                                inner.executeWithoutResult(alsoBegun -> {});
                                long inside = System.nanoTime();
                                await().atMost(TimeLimits.LIMIT)
                                        .pollInSameThread()
                                        .until(() -> CurrentLock.get().isLost()
                                                || System.nanoTime() - inside > 10_000_000_000L);
                                assertThat(CurrentLock.get().isLost()).isFalse();
                            }));
        }
    }

    /** It is too late for a rollback, and the caller learns that the hold has ended. */
    @Test
    void givenTheLockIsLostAfterTheCommit_thenCommittedAndTheCallFails() {
        try (ConfigurableApplicationContext app = Apps.start(
                Application.class,
                NO_OTHER_CLIENT,
                "spring.datasource.url=jdbc:h2:mem:after-commit",
                "latchkey.store=in-memory")) {
            Work work = app.getBean(Work.class);

            assertThatThrownBy(() -> work.write(() ->
                            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                                @Override
                                public void afterCommit() {
                                    loseLock(app);
                                }
                            })))
                    .isInstanceOf(LockLostException.class);
            assertThat(work.written()).isOne();
        }
    }

    private static TransactionTemplate transactions(ConfigurableApplicationContext app, String manager) {
        return new TransactionTemplate(app.getBean(manager, PlatformTransactionManager.class));
    }

    private static void assertNotCommitted(ConfigurableApplicationContext app, Runnable inTransaction) {
        Work work = app.getBean(Work.class);

        assertThatThrownBy(() -> work.write(inTransaction)).isInstanceOf(LockLostException.class);
        assertThat(work.written()).isZero();
    }

    private static void loseLock(ConfigurableApplicationContext app) {
        assertThat(app.getBean(PersistingStore.class).delete(CurrentLock.get().key()))
                .isTrue();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {
        @Bean
        Work work(DataSource dataSource) {
            return new Work(dataSource);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Application.class)
    static class EarlyManager {
        @Bean
        static BeanPostProcessor needsTransactions(PlatformTransactionManager manager) {
            assertThat(manager).isNotNull();
            return new BeanPostProcessor() {};
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Elsewhere {
        @Bean
        @Primary
        DataSource ofLocks() {
            return new DriverManagerDataSource("jdbc:h2:mem:of-locks;DB_CLOSE_DELAY=-1");
        }

        @Bean
        DataSource ofOrders() {
            return new DriverManagerDataSource("jdbc:h2:mem:of-orders;DB_CLOSE_DELAY=-1");
        }

        @Bean
        PlatformTransactionManager transactionManager(@Qualifier("ofOrders") DataSource ofOrders) {
            return new JdbcTransactionManager(ofOrders);
        }

        @Bean
        Work work(@Qualifier("ofOrders") DataSource ofOrders) {
            return new Work(ofOrders);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class TwoManagers {
        @Bean
        @Primary
        DataSource ofLocks() {
            return new DriverManagerDataSource("jdbc:h2:mem:two-locks;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=60000");
        }

        @Bean
        DataSource ofOrders() {
            return new DriverManagerDataSource("jdbc:h2:mem:two-orders;DB_CLOSE_DELAY=-1");
        }

        @Bean
        @Primary
        PlatformTransactionManager transactionManager(DataSource ofLocks) {
            return new JdbcTransactionManager(ofLocks);
        }

        @Bean
        PlatformTransactionManager ofOrdersManager(@Qualifier("ofOrders") DataSource ofOrders) {
            return new JdbcTransactionManager(ofOrders);
        }

        @Bean
        Work work(@Qualifier("ofOrders") DataSource ofOrders) {
            return new Work(ofOrders);
        }
    }

    static class Work {

        private final JdbcClient sql;

        Work(DataSource dataSource) {
            sql = JdbcClient.create(dataSource);
            sql.sql("CREATE TABLE IF NOT EXISTS written (n int)").update();
        }

        @Locked("'work'")
        @Transactional
        void write(Runnable inTransaction) {
            sql.sql("INSERT INTO written VALUES (1)").update();
            inTransaction.run();
        }

        int written() {
            return sql.sql("SELECT count(*) FROM written").query(Integer.class).single();
        }
    }
}
