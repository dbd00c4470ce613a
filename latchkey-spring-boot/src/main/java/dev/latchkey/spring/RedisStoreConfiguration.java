package dev.latchkey.spring;

import dev.latchkey.redis.RedisStore;
import io.lettuce.core.RedisClient;
import io.lettuce.core.cluster.RedisClusterClient;
import org.springframework.beans.DirectFieldAccessor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration.StaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Locks in the Redis of the application, with the settings of its client. */
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
        LettuceConnectionFactory own = copy(factory);
        RedisStore.Builder store = own.getRequiredNativeClient() instanceof RedisClusterClient cluster
                ? RedisStore.builder(cluster)
                : RedisStore.builder((RedisClient) own.getRequiredNativeClient());
        return new OpenStore(store.build(), CommitCheck.BY_THE_STORE, own::destroy);
    }

    /**
     * The client of the application ends when its context is stopped, or paused between tests, and is another one after that.
     * There is no accessor that tells a fixed list of masters and replicas from a server at localhost.
     */
    private static LettuceConnectionFactory copy(LettuceConnectionFactory factory) {
        Object configuration = new DirectFieldAccessor(factory).getPropertyValue("configuration");
        if (configuration instanceof StaticMasterReplicaConfiguration) {
            throw new LatchkeyConfigurationException(
                    "The LettuceConnectionFactory of the application has a fixed list of a master and its replicas: a lock is"
                            + " to be kept in the master alone, wherever that is.",
                    "Declare the store over the master: @Bean RedisStore lockStore() { return"
                            + " RedisStore.builder(RedisClient.create(\"redis://master\")).build(); }. Or use sentinels.");
        }
        if (!(configuration instanceof RedisConfiguration known)) {
            throw new IllegalStateException("this version of Spring Data Redis keeps no configuration in its factory");
        }
        LettuceConnectionFactory own = new LettuceConnectionFactory(known, factory.getClientConfiguration());
        own.start();
        return own;
    }
}
