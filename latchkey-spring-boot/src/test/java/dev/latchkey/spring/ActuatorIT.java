package dev.latchkey.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.latchkey.servers.RedisServer;
import java.util.Arrays;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** What operators see, over the Redis that the application has. */
class ActuatorIT {

    private static final String[] REDIS = {
        "latchkey.store=redis",
        "management.endpoints.web.exposure.include=locks",
        "management.endpoints.jmx.exposure.include=*"
    };

    @Test
    void givenRedis_thenLocksThereByItsOwnClient_andTheEndpointShowsWhatIsHeld() {
        try (RedisServer redis = RedisServer.start();
                ConfigurableApplicationContext app = start(redis)) {
            LocksEndpoint endpoint = app.getBean(LocksEndpoint.class);

            app.getBean(LockTemplate.class).run("a", () -> {
                assertThat(endpoint.held().locks())
                        .singleElement()
                        .satisfies(one -> assertThat(one.resource()).isEqualTo("a"))
                        .satisfies(one -> assertThat(one.fencingToken()).isPositive());
                LocksEndpoint.Holders holders = Objects.requireNonNull(endpoint.holders("a"));
                assertThat(holders.holders()).hasSize(1);
            });

            assertThat(endpoint.held().locks()).isEmpty();
        }
    }

    @Test
    void givenTheStore_whenItDoesNotAnswer_thenHealthIsDown() {
        try (RedisServer redis = RedisServer.start();
                ConfigurableApplicationContext app = start(redis)) {
            HealthIndicator health = app.getBean("latchkeyHealthIndicator", HealthIndicator.class);

            assertThat(status(health)).isEqualTo(Status.UP);
            redis.kill();
            assertThat(status(health)).isEqualTo(Status.DOWN);
        }
    }

    private static Status status(HealthIndicator health) {
        return Objects.requireNonNull(health.health()).getStatus();
    }

    private static ConfigurableApplicationContext start(RedisServer redis) {
        String[] properties = Arrays.copyOf(REDIS, REDIS.length + 2);
        properties[REDIS.length] = "spring.data.redis.url=" + redis.dsn();
        properties[REDIS.length + 1] = Apps.PATIENT_REDIS;
        return Apps.start(Application.class, properties);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            excludeName = {
                "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
                "org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration"
            })
    static class Application {}
}
