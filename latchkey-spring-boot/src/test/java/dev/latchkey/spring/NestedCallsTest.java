package dev.latchkey.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.LockFactory;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;

/** Calls for the same key in the same thread that come by different ways: none may wait for the other. */
class NestedCallsTest {

    private static final String[] IN_MEMORY = {
        "latchkey.store=in-memory",
        "latchkey.prefix=app",
        "spring.autoconfigure.exclude=org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration,"
                + "org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration,"
                + "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration"
    };

    @Test
    void givenATemplateOfTheApplication_whenOverTheSameFactory_thenGoesOnUnderTheSameHold() {
        try (ConfigurableApplicationContext app = Apps.start(Parent.class, IN_MEMORY)) {
            LockTemplate own = new LockTemplate(app.getBean(LockFactory.class), "app", Duration.ofSeconds(10));
            Work work = app.getBean(Work.class);

            assertThat(own.<Long, RuntimeException>call("work", () -> token() - work.token()))
                    .isZero();
        }
    }

    @Test
    void givenAContextWithAParent_whenBothLockTheSame_thenGoesOnUnderTheSameHold() {
        try (ConfigurableApplicationContext parent = Apps.start(Parent.class, IN_MEMORY);
                ConfigurableApplicationContext child = childOf(parent, Child.class)) {
            assertThat(child.getBean(ChildWork.class).difference()).isZero();
            assertThat(child.getBean(Acquirer.class))
                    .as("checks commits as the parent does, which has opened the store")
                    .isSameAs(parent.getBean(Acquirer.class));
        }
    }

    @Test
    void givenAContextWithAParent_whenItHasAFactoryOfItsOwn_thenLocksWithThat() {
        try (ConfigurableApplicationContext parent = Apps.start(Parent.class, IN_MEMORY);
                ConfigurableApplicationContext child = childOf(parent, ChildWithFactory.class)) {
            assertThat(child.getBean(Acquirer.class).factory())
                    .isSameAs(child.getBean("own"))
                    .isNotSameAs(parent.getBean(Acquirer.class).factory());
        }
    }

    private static ConfigurableApplicationContext childOf(ConfigurableApplicationContext parent, Class<?> application) {
        return new SpringApplicationBuilder(application)
                .parent(parent)
                .web(WebApplicationType.NONE)
                .run();
    }

    private static long token() {
        return CurrentLock.get().fencingToken().orElseThrow();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Parent {
        @Bean
        Work work() {
            return new Work();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Child {
        @Bean
        ChildWork childWork(Work work) {
            return new ChildWork(work);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class ChildWithFactory {
        @Bean
        @Primary
        LockFactory own() {
            return LockFactory.connect("in-memory");
        }
    }

    static class Work {
        @Locked("'work'")
        long token() {
            return NestedCallsTest.token();
        }
    }

    static class ChildWork {

        private final Work work;

        ChildWork(Work work) {
            this.work = work;
        }

        @Locked("'work'")
        long difference() {
            return token() - work.token();
        }
    }
}
