package dev.latchkey.spring;

import dev.latchkey.redis.RedisStore;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.cluster.RedisClusterClient;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Locks in the Redis of the application, by its own client. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({RedisStore.class, RedisClient.class, LettuceConnectionFactory.class})
@ConditionalOnBean(LettuceConnectionFactory.class)
class RedisStoreConfiguration {

    @Bean
    StoreSource latchkeyRedisSource(ObjectProvider<LettuceConnectionFactory> connectionFactories) {
        return new StoreSource("redis", "redis (a LettuceConnectionFactory)", () -> open(connectionFactories));
    }

    private static OpenStore open(ObjectProvider<LettuceConnectionFactory> connectionFactories) {
        LettuceConnectionFactory factory = connectionFactories.getIfUnique();
        if (factory == null) {
            throw new LatchkeyConfigurationException(
                    "The application has several LettuceConnectionFactories, and none of them is primary: locks could be kept"
                            + " in any.",
                    "Mark one with @Primary, or declare the store as a bean: RedisStore.builder(client).build().");
        }
        AbstractRedisClient client = factory.getRequiredNativeClient();
        RedisStore.Builder store = client instanceof RedisClusterClient cluster
                ? RedisStore.builder(cluster)
                : RedisStore.builder((RedisClient) client);
        return OpenStore.of(store.build());
    }
}
