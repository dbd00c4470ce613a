package dev.latchkey.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.latchkey.Key;
import dev.latchkey.spi.ExpiringStore;
import dev.latchkey.spi.Request;
import dev.latchkey.spi.Response;
import dev.latchkey.store.InMemoryStore;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** Beans that reach their proxy by other ways than usual, and calls that end before they have begun. */
class ProxiesTest {

    private static final String NO_CLIENT =
            "spring.autoconfigure.exclude=org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration,"
                    + "org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration,"
                    + "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration";

    private static final Duration LONG = Duration.ofSeconds(60);

    /** The same object is a bean by two names. */
    @Test
    void givenABeanThatIsExposedTwice_thenLockedOnce() {
        try (ConfigurableApplicationContext app = Apps.start(Exposed.class, NO_CLIENT, "latchkey.store=in-memory")) {
            Work work = app.getBean("work", Work.class);

            assertThat(work.stage().join()).isEqualTo(1);
            assertThat(work.mono(Mono.just(1)).block(LONG)).isEqualTo(1);
        }
    }

    @Test
    void givenAMonoUnderItsOwnKey_thenRefusedInsteadOfWaitingForItself() {
        try (ConfigurableApplicationContext app = Apps.start(Plain.class, NO_CLIENT, "latchkey.store=in-memory")) {
            Work work = app.getBean("work", Work.class);

            assertThatThrownBy(() -> work.mono(work.mono(Mono.just(1))).block(LONG))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("would wait for itself");
        }
    }

    /** What an annotation of Spring does for such a bean is done, and the lock would be left out. */
    @Test
    void givenABeanThatAnEarlierPostProcessorNeeds_thenFailsInsteadOfRunningUnlocked() {
        assertThatThrownBy(() -> Apps.start(Early.class, NO_CLIENT, "latchkey.store=in-memory"))
                .isInstanceOf(LatchkeyConfigurationException.class)
                .hasMessageContaining("\"work\"");
    }

    @Test
    void givenAMonoThatIsCancelledWhileItsLockIsGranted_thenReleased() throws Exception {
        try (ConfigurableApplicationContext app = Apps.start(SlowlyGranted.class, NO_CLIENT)) {
            SlowStore store = app.getBean(SlowStore.class);
            Disposable subscription =
                    app.getBean("work", Work.class).mono(Mono.just(1)).subscribe();
            store.asked.await();
            subscription.dispose();
            store.mayAnswer.countDown();
            store.answered.await();

            await().untilAsserted(() -> assertThat(store.locks.holders("mono")).isEmpty());
        }
    }

    @Test
    void givenTheWorkFails_whenTheReleaseFailsAsWell_thenTheFailureOfTheWorkIsThrown() {
        try (ConfigurableApplicationContext app = Apps.start(SlowlyGranted.class, NO_CLIENT)) {
            SlowStore store = app.getBean(SlowStore.class);
            store.mayAnswer.countDown();
            store.failure = new IllegalStateException("of a driver");
            LockTemplate locks = app.getBean(LockTemplate.class);

            assertThatThrownBy(() -> locks.run("a", () -> {
                        throw new UnsupportedOperationException("of the work");
                    }))
                    .isInstanceOf(UnsupportedOperationException.class);
            assertThat(locks.tryRun("b", () -> {})).isTrue();
            assertThat(CurrentLock.find()).isEmpty();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Plain {
        @Bean
        Work work() {
            return new Work();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Plain.class)
    static class Exposed {
        @Bean
        Work sameWork(Work work) {
            return work;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Plain.class)
    static class Early {
        @Bean
        static OrderedProcessor needsWork(Work work) {
            assertThat(work).isNotNull();
            return new OrderedProcessor();
        }
    }

    static class OrderedProcessor implements BeanPostProcessor, Ordered {
        @Override
        public int getOrder() {
            return 0;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Plain.class)
    static class SlowlyGranted {
        @Bean
        SlowStore store() {
            return new SlowStore();
        }
    }

    static class Work {

        @Locked("'stage'")
        CompletableFuture<Integer> stage() {
            return CompletableFuture.completedFuture(1);
        }

        @Locked("'mono'")
        Mono<Integer> mono(Mono<Integer> inner) {
            return inner;
        }
    }

    /** Its answer comes late, as over a network; whoever waits for it cannot be interrupted. */
    static class SlowStore implements ExpiringStore {

        final InMemoryStore locks = new InMemoryStore();
        final CountDownLatch asked = new CountDownLatch(1);
        final CountDownLatch mayAnswer = new CountDownLatch(1);
        final CountDownLatch answered = new CountDownLatch(1);
        volatile @Nullable RuntimeException failure;

        @Override
        public Response save(Request request) {
            Response response = locks.save(request);
            asked.countDown();
            boolean isInterrupted = Thread.interrupted();
            while (mayAnswer.getCount() > 0) {
                try {
                    mayAnswer.await();
                } catch (InterruptedException e) {
                    isInterrupted = true;
                }
            }
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
            answered.countDown();
            return response;
        }

        @Override
        public Response refresh(Request request) {
            return locks.refresh(request);
        }

        @Override
        public boolean delete(Key key) {
            boolean isDeleted = locks.delete(key);
            RuntimeException of = failure;
            if (of != null) {
                throw of;
            }
            return isDeleted;
        }

        @Override
        public Optional<Response.Granted> find(Key key) {
            return locks.find(key);
        }
    }
}
