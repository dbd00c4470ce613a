package dev.latchkey.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.latchkey.LockFactory;
import dev.latchkey.testkit.TimeLimits;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;

/** Results that complete later, of methods whose declaration does not say so. */
class PendingResultTest {

    private final ConfigurableApplicationContext app = Apps.start(
            Application.class,
            "latchkey.store=in-memory",
            "spring.autoconfigure.exclude=org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration,"
                    + "org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration,"
                    + "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration");

    private final Work work = app.getBean(Work.class);

    @AfterEach
    void close() {
        app.close();
    }

    @Test
    void givenAnInheritedMethod_whenItsTypeArgumentIsAStage_thenHeldUntilThatHasCompleted() {
        CompletableFuture<Integer> inner = new CompletableFuture<>();
        CompletableFuture<Integer> outer = work.inherited(inner);

        assertThat(holders("inherited")).isEqualTo(1);
        inner.complete(1);
        assertThat(outer).succeedsWithin(TimeLimits.LIMIT).isEqualTo(1);
        assertThat(holders("inherited")).isZero();
    }

    /** The work still goes on. A stage that has completed by other means does not run what was to follow its work. */
    @Test
    void givenAStage_whenItsCallerCancelsIt_thenReleasedWhenTheWorkHasCompleted() {
        CompletableFuture<Integer> inner = new CompletableFuture<>();
        CompletableFuture<Integer> outer = work.inherited(inner);

        outer.cancel(true);
        assertThat(holders("inherited")).isEqualTo(1);
        inner.complete(1);
        await().atMost(TimeLimits.LIMIT).until(() -> holders("inherited") == 0);
    }

    @Test
    void givenAnObject_whenItIsPending_thenRefusedInsteadOfReleasedTooSoon() {
        assertThatThrownBy(() -> work.any(new CompletableFuture<>()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("may go on after the release");
        assertThatThrownBy(() -> work.any(Mono.just(1))).isInstanceOf(IllegalStateException.class);
        assertThat(work.any(CompletableFuture.completedFuture(1))).isInstanceOf(CompletableFuture.class);
        assertThat(work.any(1)).isEqualTo(1);
        assertThat(holders("any")).isZero();
    }

    @Test
    void givenATemplate_whenTheWorkReturnsAPendingStage_thenRefused() {
        LockTemplate locks = app.getBean(LockTemplate.class);

        assertThatThrownBy(() -> {
                    Future<?> unused = locks.<Future<?>, RuntimeException>call("template", CompletableFuture::new);
                })
                .isInstanceOf(IllegalStateException.class);
        assertThat(holders("template")).isZero();
    }

    private int holders(String resource) {
        return app.getBean(LockFactory.class).holders(resource).size();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {
        @Bean
        Work work() {
            return new Work();
        }
    }

    abstract static class Base<R> {
        @Locked("'inherited'")
        R inherited(R inner) {
            return inner;
        }
    }

    static class Work extends Base<CompletableFuture<Integer>> {
        @Locked("'any'")
        Object any(Object inner) {
            return inner;
        }
    }
}
