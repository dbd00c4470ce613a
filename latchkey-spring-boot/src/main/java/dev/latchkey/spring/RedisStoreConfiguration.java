package dev.latchkey.spring;

import dev.latchkey.redis.RedisStore;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import java.time.Duration;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Locks in the Redis of the application, with the settings of its client. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({RedisStore.class, RedisClient.class, LettuceConnectionFactory.class})
@ConditionalOnBean(LettuceConnectionFactory.class)
class RedisStoreConfiguration {

    private static final Duration LONGEST_TIMEOUT = Duration.ofDays(1);

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
        try {
            return new OpenStore(store(own), own::destroy);
        } catch (RuntimeException e) {
            own.destroy();
            throw e;
        }
    }

    private static RedisStore store(LettuceConnectionFactory own) {
        RedisStore.Builder store = own.getRequiredNativeClient() instanceof RedisClusterClient cluster
                ? RedisStore.builder(cluster)
                : RedisStore.builder((RedisClient) own.getRequiredNativeClient());
        Duration timeout = own.getClientConfiguration().getCommandTimeout();
        // Zero is no limit, more than a day as good as none, and the driver's default longer than a lock may wait for
        // an answer.
        boolean isLimit = !timeout.isZero()
                && timeout.compareTo(LONGEST_TIMEOUT) <= 0
                && !timeout.equals(RedisURI.DEFAULT_TIMEOUT_DURATION);
        return isLimit ? store.commandTimeout(timeout).build() : store.build();
    }

    /** The client of the application ends when its context is stopped, or paused between tests, and is another one after that. */
    private static LettuceConnectionFactory copy(LettuceConnectionFactory factory) {
        LettuceConnectionFactory own =
                new LettuceConnectionFactory(configuration(factory), factory.getClientConfiguration());
        own.start();
        return own;
    }

    private static RedisConfiguration configuration(LettuceConnectionFactory factory) {
        if (factory.getClusterConfiguration() != null) {
            return factory.getClusterConfiguration();
        }
        if (factory.getSentinelConfiguration() != null) {
            return factory.getSentinelConfiguration();
        }
        if (factory.getSocketConfiguration() != null) {
            return factory.getSocketConfiguration();
        }
        if (isMasterReplica(factory)) {
            throw new LatchkeyConfigurationException(
                    "The LettuceConnectionFactory of the application has a fixed list of a master and its replicas: a lock is"
                            + " to be kept in the master alone, wherever that is.",
                    "Declare the store over the master: @Bean RedisStore lockStore() { return"
                            + " RedisStore.builder(RedisClient.create(\"redis://master\")).build(); }. Or use sentinels.");
        }
        return factory.getStandaloneConfiguration();
    }

    /**
     * Such a factory shows the configuration of a server at localhost, which it does not have. Its client, which is given an
     * address with each connection, is the only one that has none itself, and refuses to connect for that reason.
     */
    private static boolean isMasterReplica(LettuceConnectionFactory factory) {
        if (!factory.getStandaloneConfiguration().equals(new RedisStandaloneConfiguration())) {
            return false;
        }
        try {
            ((RedisClient) factory.getRequiredNativeClient()).connect().close();
            return false;
        } catch (RedisException e) {
            return false;
        } catch (IllegalStateException e) {
            return true;
        }
    }
}
