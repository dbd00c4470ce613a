package dev.latchkey.spring;

import dev.latchkey.LockFactory;
import dev.latchkey.LockListener;
import dev.latchkey.spi.PersistingStore;
import java.util.function.Supplier;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Role;
import org.springframework.util.function.SingletonSupplier;

/** Locks of an application over the client it has. Whatever opens the store is made when it is first needed. */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
            "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
            "org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration"
        })
@EnableConfigurationProperties(LatchkeyProperties.class)
@Import({
    JdbcStoreConfiguration.class,
    RedisStoreConfiguration.class,
    MongoDbStoreConfiguration.class,
    TransactionConfiguration.class
})
class LatchkeyAutoConfiguration {

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LockedMethods latchkeyLockedMethods(
            ConfigurableBeanFactory beans, ObjectProvider<LatchkeyProperties> properties) {
        return new LockedMethods(new LockedMethodParser(
                text -> {
                    String resolved = beans.resolveEmbeddedValue(text);
                    return resolved == null ? "" : resolved;
                },
                () -> properties.getObject().ttl()));
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static EarlyBeans latchkeyEarlyBeans() {
        return new EarlyBeans();
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static ContextFactories latchkeyContextFactories(ConfigurableListableBeanFactory beans) {
        return new ContextFactories(beans);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LockedBeanPostProcessor latchkeyLockedBeanPostProcessor(
            LockedMethods methods,
            EarlyBeans early,
            ConfigurableBeanFactory beans,
            ObjectProvider<Acquirer> acquirer,
            ObjectProvider<LatchkeyProperties> properties) {
        Supplier<KeyEvaluator> keys = SingletonSupplier.of(
                () -> new KeyEvaluator(beans, properties.getObject().prefix()));
        return new LockedBeanPostProcessor(
                methods, new LockedInterceptor(methods, SingletonSupplier.of(acquirer::getObject), keys), early);
    }

    @Bean
    StoreChoice latchkeyStoreChoice(LatchkeyProperties properties, ObjectProvider<StoreSource> sources) {
        return new StoreChoice(properties.store(), sources.orderedStream().toList());
    }

    @Bean(LatchkeyLifecycle.STORE)
    @Lazy
    @ConditionalOnMissingBean({PersistingStore.class, LockFactory.class})
    PersistingStore latchkeyStore(StoreChoice choice) {
        return choice.open();
    }

    @Bean(LatchkeyLifecycle.FACTORY)
    @Lazy
    @ConditionalOnMissingBean
    LockFactory latchkeyLockFactory(PersistingStore store, ObjectProvider<LockListener> listeners) {
        LockFactory.Builder builder = LockFactory.builder(store);
        listeners.orderedStream().forEach(builder::listener);
        return builder.build();
    }

    @Bean
    @Conditional(OwnLocks.class)
    Acquirer latchkeyAcquirer(
            ConfigurableListableBeanFactory beans,
            ObjectProvider<LockFactory> factory,
            ObjectProvider<PersistingStore> store,
            ObjectProvider<CommitCheck.OfStore> checks) {
        // The application's own factory may be over any store, whatever beans there are.
        Supplier<CommitCheck> check = () -> beans.containsBeanDefinition(LatchkeyLifecycle.FACTORY)
                ? checks.getIfAvailable(() -> any -> CommitCheck.BY_THE_STORE).of(store.getObject())
                : CommitCheck.BY_THE_STORE;
        return new Acquirer(SingletonSupplier.of(factory::getObject), SingletonSupplier.of(check));
    }

    /** A context without a factory of its own locks as its parent does, and checks commits as that. */
    static final class OwnLocks extends AnyNestedCondition {

        OwnLocks() {
            super(ConfigurationPhase.REGISTER_BEAN);
        }

        @ConditionalOnMissingBean(Acquirer.class)
        static final class NoParent {}

        @ConditionalOnBean(value = LockFactory.class, search = SearchStrategy.CURRENT)
        static final class OwnFactory {}
    }

    @Bean(LatchkeyLifecycle.TEMPLATE)
    @Lazy
    @ConditionalOnMissingBean
    LockTemplate latchkeyLockTemplate(Acquirer acquirer, LatchkeyProperties properties) {
        return new LockTemplate(acquirer, properties.prefix(), properties.ttl());
    }

    @Bean
    LatchkeyLifecycle latchkeyLifecycle(
            ConfigurableApplicationContext context,
            StoreChoice choice,
            LockedMethods methods,
            ContextFactories factories,
            LatchkeyProperties properties) {
        return new LatchkeyLifecycle(context, choice, methods, factories, properties);
    }
}
