package dev.latchkey.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.latchkey.LockFactory;
import dev.latchkey.LockMode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.CustomScopeConfigurer;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionPhase;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.support.TransactionTemplate;
import reactor.core.publisher.Mono;

/** Locked methods together with what else Spring does with a bean or a method. */
class SpringFeaturesTest {

    private static final String NO_OTHER_CLIENT =
            "spring.autoconfigure.exclude=org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration,"
                    + "org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration";

    private final List<ConfigurableApplicationContext> apps = new ArrayList<>();

    @AfterEach
    void close() {
        apps.forEach(ConfigurableApplicationContext::close);
    }

    private ConfigurableApplicationContext start(Class<?> application, String... properties) {
        List<String> all = new ArrayList<>(List.of(properties));
        all.addAll(List.of(NO_OTHER_CLIENT, "spring.datasource.url=jdbc:h2:mem:features", "latchkey.store=in-memory"));
        ConfigurableApplicationContext app = Apps.start(application, all.toArray(String[]::new));
        apps.add(app);
        return app;
    }

    private static int holders(ConfigurableApplicationContext app, String resource) {
        return app.getBean(LockFactory.class).holders(resource).size();
    }

    /** The proxy of the scope and that of the bean behind it are both beans. */
    @Test
    void givenAScopedBean_thenLockedOnce() {
        ConfigurableApplicationContext app = start(Scoped.class);
        Work work = app.getBean("scoped", Work.class);

        assertThat(work.stage().join()).isEqualTo(1);
        assertThat(work.mono().block()).isEqualTo(1);
        assertThat(work.resource("a")).isEqualTo("a");
    }

    @Test
    void givenAnInterfaceWithATypeArgument_thenLockedWhicheverWayItIsCalled() {
        Store<Long> store = start(Generic.class).getBean(Numbers.class);
        Numbers numbers = (Numbers) store;

        assertThat(store.save(7L)).isEqualTo("saved:7");
        assertThat(numbers.save(7L)).isEqualTo("saved:7");
    }

    @Test
    void givenProxiesOfInterfaces_thenLocked() {
        ConfigurableApplicationContext app = start(Interfaces.class, "spring.aop.proxy-target-class=false");
        Service service = app.getBean(Service.class);

        assertThat(AopUtils.isJdkDynamicProxy(service)).isTrue();
        assertThat(service.work()).isEqualTo("service");
        assertThat(service.inherited()).isEqualTo("default");
    }

    @Test
    void givenLazyInitialization_thenLocked() {
        ConfigurableApplicationContext app = start(Plain.class, "spring.main.lazy-initialization=true");

        assertThat(app.getBean(Work.class).resource("a")).isEqualTo("a");
        assertThat(app.getBean(LatchkeyLifecycle.class).isRunning()).isTrue();
    }

    @Test
    void givenItThrowsWhateverThereIs_thenThatIsThrownAndTheLockReleased() {
        ConfigurableApplicationContext app = start(Plain.class);
        Work work = app.getBean(Work.class);

        assertThatThrownBy(() -> work.fail(new IOException("checked"))).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> work.fail(new AssertionError("error"))).isInstanceOf(AssertionError.class);
        assertThatThrownBy(() -> work.fail(new StackOverflowError())).isInstanceOf(StackOverflowError.class);
        assertThat(holders(app, "fail")).isZero();
        assertThat(CurrentLock.find()).isEmpty();
    }

    @Test
    void givenAStageThatFails_thenFailedAndReleased() {
        ConfigurableApplicationContext app = start(Plain.class);
        CompletableFuture<Integer> inner = new CompletableFuture<>();
        CompletableFuture<Integer> outer = app.getBean(Work.class).failing(inner);
        inner.completeExceptionally(new IOException("later"));

        assertThatThrownBy(outer::join).hasCauseInstanceOf(IOException.class);
        assertThat(holders(app, "failing")).isZero();
    }

    /** Every attempt is a call. */
    @Test
    void givenAMethodThatIsRepeated_thenEachAttemptIsUnderALock() {
        ConfigurableApplicationContext app = start(Retried.class);

        assertThat(app.getBean(Retrying.class).work()).isEqualTo(3);
        assertThat(holders(app, "retrying")).isZero();
    }

    @ParameterizedTest
    @EnumSource(
            value = Propagation.class,
            names = {"NEVER"},
            mode = EnumSource.Mode.EXCLUDE)
    void givenATransactionOfTheCaller_whenTheMethodHasItsOwnPropagation_thenReleasedAfterBoth(Propagation propagation) {
        ConfigurableApplicationContext app = start(Plain.class);
        Propagated work = app.getBean(Propagated.class);
        TransactionTemplate transaction = new TransactionTemplate(app.getBean(PlatformTransactionManager.class));

        transaction.executeWithoutResult(begun -> {
            work.call(propagation);
            assertThat(holders(app, "propagated")).isEqualTo(1);
        });

        assertThat(holders(app, "propagated")).isZero();
        assertThat(CurrentLock.find()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(
            value = Propagation.class,
            names = {"MANDATORY"},
            mode = EnumSource.Mode.EXCLUDE)
    void givenNoTransactionOfTheCaller_thenReleasedAtTheEnd(Propagation propagation) {
        ConfigurableApplicationContext app = start(Plain.class);
        app.getBean(Propagated.class).call(propagation);

        assertThat(holders(app, "propagated")).isZero();
        assertThat(CurrentLock.find()).isEmpty();
    }

    /** The transaction has ended for what is called now, though its thread still knows of it. */
    @ParameterizedTest
    @EnumSource(TransactionPhase.class)
    void givenAListenerOfATransaction_thenLockedAndReleased(TransactionPhase phase) {
        ConfigurableApplicationContext app = start(Plain.class);
        Listeners listeners = app.getBean(Listeners.class);
        TransactionTemplate transaction = new TransactionTemplate(app.getBean(PlatformTransactionManager.class));

        transaction.executeWithoutResult(begun -> {
            app.publishEvent(phase);
            if (phase == TransactionPhase.AFTER_ROLLBACK) {
                begun.setRollbackOnly();
            }
        });

        assertThat(listeners.held()).containsExactly("listener:" + phase);
        assertThat(holders(app, "listener:" + phase)).isZero();
        assertThat(CurrentLock.find()).isEmpty();
    }

    @Test
    void givenVirtualThreads_whereJavaHasThem_thenAScheduledMethodIsLockedInOne() {
        ConfigurableApplicationContext app = start(Scheduling.class, "spring.threads.virtual.enabled=true");

        await().untilAsserted(() -> assertThat(app.getBean(Job.class).threads())
                .isNotEmpty()
                .allMatch(thread -> isVirtual(thread) == (Runtime.version().feature() >= 21)));
    }

    /** As Java 21 tells by a method that 17 does not have. */
    private static boolean isVirtual(Thread thread) {
        return thread.getClass().getName().equals("java.lang.VirtualThread");
    }

    @Test
    void givenAReaderWhoseTransactionIsReadOnly_thenSharedAndReleased() {
        ConfigurableApplicationContext app = start(Plain.class);

        assertThat(app.getBean(Work.class).read()).isEqualTo(LockMode.SHARED);
        assertThat(holders(app, "read")).isZero();
    }

    @Test
    void givenAContextThatIsClosedTwice_thenNothingFails() {
        ConfigurableApplicationContext app = start(Plain.class);
        app.getBean(Work.class).resource("a");
        app.close();
        app.close();

        assertThat(app.isActive()).isFalse();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Work.class, Listeners.class, Propagated.class, Propagations.class})
    static class Plain {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Scoped {
        @Bean
        static CustomScopeConfigurer threadScope() {
            CustomScopeConfigurer scopes = new CustomScopeConfigurer();
            scopes.addScope("thread", new SimpleThreadScope());
            return scopes;
        }

        @Bean
        @Scope(scopeName = "thread", proxyMode = ScopedProxyMode.TARGET_CLASS)
        Work scoped() {
            return new Work();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Numbers.class)
    static class Generic {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Interfaces {
        @Bean
        Service service() {
            return new ServiceOfClass();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableResilientMethods
    @Import(Retrying.class)
    static class Retried {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableScheduling
    @Import(Job.class)
    static class Scheduling {}

    interface Store<T> {
        @Locked("'saved:' + #p0")
        String save(T one);
    }

    static class Numbers implements Store<Long> {
        @Override
        public String save(Long one) {
            return CurrentLock.get().resource();
        }
    }

    interface Service {
        @Locked("'service'")
        @Transactional
        String work();

        @Locked("'default'")
        default String inherited() {
            return CurrentLock.get().resource();
        }
    }

    static class ServiceOfClass implements Service {
        @Override
        public String work() {
            return CurrentLock.get().resource();
        }
    }

    static class Retrying {

        private final AtomicInteger attempts = new AtomicInteger();

        @Locked("'retrying'")
        @Retryable(delay = 1, maxRetries = 5)
        int work() {
            assertThat(CurrentLock.get().isLost()).isFalse();
            if (attempts.incrementAndGet() < 3) {
                throw new IllegalStateException("again");
            }
            return attempts.get();
        }
    }

    static class Job {

        private final Set<Thread> threads = ConcurrentHashMap.newKeySet();

        Set<Thread> threads() {
            return threads;
        }

        @Scheduled(fixedDelay = 10)
        @Locked(value = "'job'", ifHeld = IfHeld.SKIP)
        void run() {
            assertThat(CurrentLock.get().isLost()).isFalse();
            threads.add(Thread.currentThread());
        }
    }

    static class Listeners {

        private final List<String> held = new ArrayList<>();

        List<String> held() {
            return held;
        }

        private void add() {
            held.add(CurrentLock.get().resource());
        }

        @TransactionalEventListener(phase = TransactionPhase.BEFORE_COMMIT, condition = "#p0.name() == 'BEFORE_COMMIT'")
        @Locked("'listener:' + #p0")
        void beforeCommit(TransactionPhase phase) {
            add();
        }

        @TransactionalEventListener(phase = TransactionPhase.AFTER_COMMIT, condition = "#p0.name() == 'AFTER_COMMIT'")
        @Locked("'listener:' + #p0")
        void afterCommit(TransactionPhase phase) {
            add();
        }

        @TransactionalEventListener(
                phase = TransactionPhase.AFTER_ROLLBACK,
                condition = "#p0.name() == 'AFTER_ROLLBACK'")
        @Locked("'listener:' + #p0")
        void afterRollback(TransactionPhase phase) {
            add();
        }

        @TransactionalEventListener(
                phase = TransactionPhase.AFTER_COMPLETION,
                condition = "#p0.name() == 'AFTER_COMPLETION'")
        @Locked("'listener:' + #p0")
        void afterCompletion(TransactionPhase phase) {
            add();
        }
    }

    /** Each of them locks the same, around its transaction. */
    static class Propagated {

        private final Propagations methods;

        Propagated(Propagations methods) {
            this.methods = methods;
        }

        void call(Propagation propagation) {
            switch (propagation) {
                case REQUIRED -> methods.required();
                case SUPPORTS -> methods.supports();
                case MANDATORY -> methods.mandatory();
                case REQUIRES_NEW -> methods.requiresNew();
                case NOT_SUPPORTED -> methods.notSupported();
                case NEVER -> methods.never();
                case NESTED -> methods.nested();
            }
        }
    }

    static class Propagations {
        @Locked("'propagated'")
        @Transactional(propagation = Propagation.REQUIRED)
        void required() {}

        @Locked("'propagated'")
        @Transactional(propagation = Propagation.SUPPORTS)
        void supports() {}

        @Locked("'propagated'")
        @Transactional(propagation = Propagation.MANDATORY)
        void mandatory() {}

        @Locked("'propagated'")
        @Transactional(propagation = Propagation.REQUIRES_NEW)
        void requiresNew() {}

        @Locked("'propagated'")
        @Transactional(propagation = Propagation.NOT_SUPPORTED)
        void notSupported() {}

        @Locked("'propagated'")
        @Transactional(propagation = Propagation.NEVER)
        void never() {}

        @Locked("'propagated'")
        @Transactional(propagation = Propagation.NESTED)
        void nested() {}
    }

    static class Work {

        @Locked("#name")
        String resource(String name) {
            return CurrentLock.get().resource();
        }

        @Locked("'stage'")
        CompletableFuture<Integer> stage() {
            return CompletableFuture.completedFuture(1);
        }

        @Locked("'failing'")
        CompletableFuture<Integer> failing(CompletableFuture<Integer> inner) {
            return inner;
        }

        @Locked("'mono'")
        Mono<Integer> mono() {
            return Mono.just(1);
        }

        @Locked("'fail'")
        void fail(Throwable failure) throws Throwable {
            throw failure;
        }

        @Locked(value = "'read'", mode = LockMode.SHARED)
        @Transactional(readOnly = true)
        LockMode read() {
            return CurrentLock.get().mode();
        }
    }
}
